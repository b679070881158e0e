import { addressOf } from './address.ts';
import { RESERVE } from './cell.ts';
import type { Layout, StockStore } from './store.ts';

/** Forgets all that a product keeps in its cells, some of it at a time. */
export async function cleared(store: StockStore, product: string, { identity, cells }: Layout): Promise<void> {
  const address = addressOf(product, identity);
  for (let cell = RESERVE; cell < cells; cell++) while (!(await store.clear(address, cell)));
}
