import { RESERVE } from './cell.ts';
import { refusal, StockError } from './errors.ts';
import type { LayoutCache } from './layout.ts';
import type { Cells } from './look.ts';

/**
 * Puts units into the reserve, once for each `id`.
 * @throws StockError `STOCK_CLOSED`, `STOCK_REQUEST_REUSED`
 */
export async function restock(cells: Cells, layouts: LayoutCache, id: string, units: number): Promise<void> {
  let layout = await layouts.get();
  for (;;) {
    if (layout.closed) layout = await layouts.read();
    if (layout.closed) {
      const [found] = await cells.step(RESERVE, { op: 'find', id, buyer: '' });
      if (found!.is === 'put' && found!.units === units) return; // before it was closed
      const message = `restocking of ${JSON.stringify(cells.name)} was closed for good: sell what is left, or create another product`;
      throw new StockError('STOCK_CLOSED', message, { product: cells.name });
    }
    const [reply] = await cells.step(RESERVE, { op: 'put', epoch: layout.epoch, id, units });
    if (reply!.is === 'done' || reply!.is === 'put') return;
    if (reply!.is !== 'stale') throw refusal(reply!, cells.name);
    layout = await layouts.read();
  }
}
