import { StockError } from './errors.ts';
import type { Layout } from './store.ts';

/**
 * A layout as engines keep it. In the first format, without `v`, products had no identity. A process that knows only that format must
 * not sell a product of the second, whose cells are elsewhere. It looks for `servers`, does not find it, and refuses.
 */
export function stored(layout: Layout): string {
  if (layout.identity === '') {
    const { identity: _, ...first } = layout;
    return JSON.stringify(first);
  }
  const { servers: over, ...rest } = layout;
  return JSON.stringify({ v: 2, over, ...rest });
}

/** @throws StockError `STOCK_INVALID` when a newer version wrote it */
export function restored(text: string): Layout {
  const { v = 1, over, ...rest } = JSON.parse(text) as Layout & { readonly v?: number; readonly over?: number };
  if (v === 1) return { ...rest, identity: '' };
  if (v === 2) return { ...rest, servers: over! };
  throw new StockError(
    'STOCK_INVALID',
    `a product is kept in format ${v}, which this version of holdfast does not know`,
  );
}
