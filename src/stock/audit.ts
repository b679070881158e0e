import { type Cell, isBalanced, RESERVE } from './cell.ts';
import { errorOf } from './errors.ts';
import { type Cells, isUnmoved, type Look, total, transits } from './look.ts';
import type { Levels } from './order.ts';
import type { Reply } from './step.ts';

/** Where every unit is that was ever put in. */
export interface Audit extends Omit<Levels, 'segments'> {
  /** Units that were ever put in. */
  readonly put: number;
  /** Units that can be bought, over all segments. */
  readonly segments: number;
  /** On the way between two cells: in the journal of one, and not yet in the other. */
  readonly transit: number;
  /** segments + reserve + transit + reserved + sold = put, each cell's own books are right, and the requests add up to them. */
  readonly right: boolean;
}

/** How often to read again: while units move, a reader may see one twice, or not at all. */
const TRIES = 20;

export async function auditOf(cells: Cells, count: number): Promise<Audit> {
  for (let tries = 0; tries < TRIES; tries++) {
    const tallies = await tallyAll(cells, count);
    if (tallies && isUnmoved(tallies.look, await cells.look(count))) return auditFrom(tallies.look, tallies.agree);
  }
  throw errorOf('STOCK_BUSY', cells.name, ': units keep moving; audit it when it is quieter');
}

/** Each cell, and whether its requests add up to it. Undefined where a cell changes again and again while its requests are read. */
async function tallyAll(cells: Cells, count: number): Promise<{ look: Look; agree: boolean } | undefined> {
  const look = new Map<number, Cell>();
  let agree = true;
  for (let i = RESERVE; i < count; i++) {
    let tally = await tallyOf(cells, i);
    for (let tries = 1; !tally && tries < TRIES; tries++) tally = await tallyOf(cells, i);
    if (!tally) return undefined;
    const { cell, reserved, sold } = tally;
    look.set(i, cell);
    agree &&= cell.reserved === reserved && cell.sold === sold && isBalanced(cell);
  }
  return { look, agree };
}

/** What all requests of a cell add up to, portion by portion. Undefined where any of them changed meanwhile. */
async function tallyOf(
  cells: Cells,
  i: number,
): Promise<Required<Pick<Reply, 'cell' | 'reserved' | 'sold'>> | undefined> {
  const sums = { reserved: 0, sold: 0, counted: 0 };
  let first: Cell | undefined;
  for (let from: string | undefined; ; ) {
    const [reply] = await cells.step(i, { op: 'tally', ...(from === undefined ? {} : { from }) });
    const { cell, reserved = 0, sold = 0, counted = 0, next, requests = counted } = reply!;
    first ??= cell!;
    sums.reserved += reserved;
    sums.sold += sold;
    sums.counted += counted;
    from = next;
    if (from !== undefined) continue;
    const quiet = isAsItWas(first, cell!) && (reply!.requests === undefined || sums.counted === requests);
    return quiet ? { cell: cell!, reserved: sums.reserved, sold: sums.sold } : undefined;
  }
}

/** A take raises one of the counts of units. What lowers a count raises another one, or the generation. */
const isAsItWas = (before: Cell, after: Cell): boolean =>
  before.sold === after.sold && before.reserved === after.reserved && before.generation === after.generation;

export function auditFrom(look: Look, agree: boolean): Audit {
  const put = total(look, 'put');
  const reserve = look.get(RESERVE)!.free;
  const segments = total(look, 'free') - reserve;
  const transit = transits(look).reduce((sum, { units }) => sum + units, 0);
  const [reserved, sold] = [total(look, 'reserved'), total(look, 'sold')];
  const right = agree && segments + reserve + transit + reserved + sold === put;
  return { put, segments, reserve, transit, reserved, sold, right };
}
