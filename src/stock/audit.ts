import { balanced, type Cell, RESERVE } from './cell.ts';
import { StockError } from './errors.ts';
import { type Cells, type Look, total, transits, unmoved } from './look.ts';
import type { Reply } from './step.ts';

/** Where every unit is that was ever put in. */
export interface Audit {
  readonly put: number;
  readonly segments: number;
  readonly reserve: number;
  /** On the way between two cells: in the journal of one, and not yet in the other. */
  readonly transit: number;
  readonly reserved: number;
  readonly sold: number;
  /** segments + reserve + transit + reserved + sold = put, each cell's own books are right, and the requests add up to them. */
  readonly right: boolean;
}

/** Reads while units move show the same unit twice, or not at all; how often to read again. */
const TRIES = 20;

export async function auditOf(cells: Cells, count: number, product: string): Promise<Audit> {
  for (let tries = 0; tries < TRIES; tries++) {
    const { look, agree } = await tally(cells, count);
    if (unmoved(look, await cells.look(count))) return judged(look, agree);
  }
  throw new StockError('STOCK_BUSY', `${JSON.stringify(product)}: units keep moving; audit it when it is quieter`, {
    product,
  });
}

async function tally(cells: Cells, count: number): Promise<{ look: Look; agree: boolean }> {
  const look = new Map<number, Cell>();
  let agree = true;
  for (let i = RESERVE; i < count; i++) {
    const [{ cell, reserved, sold }] = (await cells.step(i, { op: 'tally' })) as readonly [Required<Reply>];
    look.set(i, cell);
    agree &&= cell.reserved === reserved && cell.sold === sold && balanced(cell);
  }
  return { look, agree };
}

export function judged(look: Look, agree: boolean): Audit {
  const put = total(look, 'put');
  const reserve = look.get(RESERVE)!.free;
  const segments = total(look, 'free') - reserve;
  const transit = transits(look).reduce((sum, { units }) => sum + units, 0);
  const [reserved, sold] = [total(look, 'reserved'), total(look, 'sold')];
  const right = agree && segments + reserve + transit + reserved + sold === put;
  return { put, segments, reserve, transit, reserved, sold, right };
}
