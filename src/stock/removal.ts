import { errorOf } from './errors.ts';
import { finished } from './layout.ts';
import { Cells } from './look.ts';
import type { StockStore } from './store.ts';

/**
 * Forgets a product. First it writes down that the product is being removed, so that nobody opens or resizes it any more. The name is
 * free when nothing of the product is left. The next removal finishes one that broke off.
 * @throws StockError `STOCK_UNKNOWN`
 */
export async function removed(store: StockStore, product: string): Promise<void> {
  const cells = new Cells(store, product);
  let began = false;
  for (;;) {
    const layout = await store.layout(product);
    if (!layout && !began) throw errorOf('STOCK_UNKNOWN', cells.name, ` is not on ${store.name}`);
    if (!layout || !cells.bind(layout.identity)) return; // somebody else was faster
    began = true;
    if (!layout.removed) {
      await store.relayout(product, layout, { ...finished(layout), version: layout.version + 1, removed: true });
      continue;
    }
    await cells.clear(layout.cells);
    await store.relayout(product, layout, undefined);
  }
}
