import { cleared } from './cleared.ts';
import { StockError } from './errors.ts';
import { finished } from './layout.ts';
import type { StockStore } from './store.ts';

/**
 * Forgets a product. First it is written down that it is being removed, so that nobody opens or resizes it any more; its name is
 * free when nothing of it is left. A removal that broke off is gone on with by the next.
 * @throws StockError `STOCK_UNKNOWN`
 */
export async function removed(store: StockStore, product: string): Promise<void> {
  let first: string | undefined;
  for (;;) {
    const layout = await store.layout(product);
    if (first !== undefined && layout?.identity !== first) return; // somebody else was quicker
    if (!layout) {
      const name = decodeURIComponent(product);
      throw new StockError('STOCK_UNKNOWN', `${JSON.stringify(name)} is not on ${store.name}`, { product: name });
    }
    first = layout.identity;
    if (!layout.removed) {
      await store.relayout(product, layout, { ...finished(layout), version: layout.version + 1, removed: true });
      continue;
    }
    await cleared(store, product, layout);
    await store.relayout(product, layout, undefined);
  }
}
