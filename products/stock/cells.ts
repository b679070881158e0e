import { Shared } from './batching.ts';
import { type Cell, isBalanced, type Move, RESERVE, type Reply, type Step } from './cell.ts';
import { errorOf } from './errors.ts';
import type { Levels } from './input.ts';
import { addressOf, type StockStore } from './store.ts';

/** All cells of a product, read at different moments. */
export type Look = ReadonlyMap<number, Cell>;

/** A move that has left one cell and is not known to have reached the other. */
interface Transit extends Move {
  readonly from: number;
  readonly to: number;
}

export function transits(look: Look): Transit[] {
  return [...look].flatMap(([from, { moves }]) =>
    Object.entries(moves)
      .map(([to, move]) => ({ ...move, from, to: Number(to) }))
      .filter(({ to, seq }) => seq > (look.get(to)?.seen[from] ?? 0)),
  );
}

export const total = (look: Look, what: 'free' | 'reserved' | 'sold' | 'put'): number =>
  [...look.values()].reduce((sum, cell) => sum + cell[what], 0);

export const levelsOf = (look: Look): Levels => ({
  reserve: look.get(RESERVE)!.free,
  segments: [...look].filter(([i]) => i !== RESERVE).map(([, { free }]) => free),
  reserved: total(look, 'reserved'),
  sold: total(look, 'sold'),
});

/** Whether no unit moved, was put in or came back between two looks. Then only orders and confirmations changed the cells. */
export const isUnmoved = (first: Look, second: Look): boolean =>
  first.size === second.size && [...first].every(([i, { generation }]) => second.get(i)?.generation === generation);

/** The cell from which `home` should get units: itself, the reserve, or the segment with the most units. Undefined if all are empty. */
export function sourceFor(look: Look, home: number, units: number): number | undefined {
  if ((look.get(home)?.free ?? 0) >= units) return home;
  if ((look.get(RESERVE)?.free ?? 0) > 0) return RESERVE;
  const [richest] = [...look].filter(([i, { free }]) => i !== home && free > 0).sort(([, a], [, b]) => b.free - a.free);
  return richest?.[0];
}

/** The cells of one product. Other products that had the same name have other cells. */
export class Cells {
  readonly store: StockStore;
  /** The encoded name of the product. */
  readonly product: string;
  readonly #looks = new Shared((count: number) => this.#look(count));
  #address: string | undefined;

  constructor(store: StockStore, product: string) {
    this.store = store;
    this.product = product;
  }

  /** The name for messages. */
  get name(): string {
    return decodeURIComponent(this.product);
  }

  /**
   * Sets which product of this name is meant. Call it before all other methods.
   * @returns false if another product of this name was set before
   */
  bind(identity: string): boolean {
    const address = addressOf(this.product, identity);
    this.#address ??= address;
    return this.#address === address;
  }

  /** @throws StockError `STOCK_UNKNOWN` if the cell is gone: the engine lost its data, or the product was removed */
  async step(cell: number, steps: readonly Step[]): Promise<readonly Reply[]> {
    const replies = await this.store.step(this.#address!, cell, steps);
    if (replies.some(({ is }) => is === 'missing')) {
      const what = cell === RESERVE ? 'reserve' : `segment ${cell}`;
      throw errorOf(
        'STOCK_UNKNOWN',
        this.name,
        ` has no ${what} any more: it was removed, or the engine lost its data`,
      );
    }
    return replies;
  }

  /** Reads all cells, once for all callers that ask together. Only callers with the same `count` share a look. */
  look(count: number): Promise<Look> {
    return this.#looks.ask(count);
  }

  /** Removes all cells and their requests, a part at a time. */
  async clear(count: number): Promise<void> {
    for (let cell = RESERVE; cell < count; cell++) while (!(await this.store.clear(this.#address!, cell)));
  }

  async #look(count: number): Promise<Look> {
    const indices = Array.from({ length: count + 1 }, (_, i) => i + RESERVE);
    const cells = await Promise.all(
      indices.map(async (i) => [i, (await this.step(i, [{ op: 'look' }]))[0]!.cell!] as const),
    );
    return new Map(cells);
  }

  /** The second and third step of a move. Any process may repeat them at any time. @returns the replies to `also` at the target */
  async finish({ from, to, seq, units }: Transit, also: readonly Step[] = []): Promise<readonly Reply[]> {
    const [, ...replies] = await this.step(to, [{ op: 'receive', from, seq, units }, ...also]);
    // The units have arrived. If their entry stays in the journal, the next move between the two cells clears it.
    await this.step(from, [{ op: 'clear', to, seq }]).catch(() => {});
    return replies;
  }

  /** One move. @returns the replies to `also` at the target; none if nothing moved */
  async move(from: number, to: number, units: number, also: readonly Step[] = []): Promise<readonly Reply[]> {
    const [sent] = await this.step(from, [{ op: 'send', to, units }]);
    if (sent?.seq === undefined) return [];
    return this.finish({ from, to, seq: sent.seq, units: sent.units! }, also);
  }
}

/** Where all units are. */
export interface Audit extends Omit<Levels, 'segments'> {
  /** All units that were ever put in. */
  readonly put: number;
  /** Free units in all segments. */
  readonly segments: number;
  /** Units on the way between two cells: in the journal of one, and not yet in the other. */
  readonly transit: number;
  /** Whether segments + reserve + transit + reserved + sold = put, and each cell's counts fit together and fit its requests. */
  readonly right: boolean;
}

/** How often to read again: while units move, a reader may see a unit twice, or not at all. */
const MAX_ATTEMPTS = 20;

export async function auditOf(cells: Cells, count: number): Promise<Audit> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    const tallies = await tallyAll(cells, count);
    if (tallies && isUnmoved(tallies.look, await cells.look(count))) return auditFrom(tallies.look, tallies.agree);
  }
  throw errorOf('STOCK_BUSY', cells.name, ': units keep moving; audit it when it is quieter');
}

/** All cells, and whether their counts fit their requests. Undefined if a cell changes each time while its requests are read. */
async function tallyAll(cells: Cells, count: number): Promise<{ look: Look; agree: boolean } | undefined> {
  const look = new Map<number, Cell>();
  let agree = true;
  for (let i = RESERVE; i < count; i++) {
    let tally = await tallyOf(cells, i);
    for (let attempts = 1; !tally && attempts < MAX_ATTEMPTS; attempts++) tally = await tallyOf(cells, i);
    if (!tally) return undefined;
    const { cell, reserved, sold } = tally;
    look.set(i, cell);
    agree &&= cell.reserved === reserved && cell.sold === sold && isBalanced(cell);
  }
  return { look, agree };
}

/** The sums of all requests of a cell, read in portions. Undefined if a request changed meanwhile. */
async function tallyOf(
  cells: Cells,
  i: number,
): Promise<Required<Pick<Reply, 'cell' | 'reserved' | 'sold'>> | undefined> {
  const sums = { reserved: 0, sold: 0, counted: 0 };
  let first: Cell | undefined;
  for (let from: string | undefined; ; ) {
    const [reply] = await cells.step(i, [{ op: 'tally', ...(from === undefined ? {} : { from }) }]);
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

/** A take raises `sold` or `reserved`. A step that lowers one of them raises the other, or the generation. */
const isAsItWas = (before: Cell, after: Cell): boolean =>
  before.sold === after.sold && before.reserved === after.reserved && before.generation === after.generation;

function auditFrom(look: Look, agree: boolean): Audit {
  const put = total(look, 'put');
  const reserve = look.get(RESERVE)!.free;
  const segments = total(look, 'free') - reserve;
  const transit = transits(look).reduce((sum, { units }) => sum + units, 0);
  const [reserved, sold] = [total(look, 'reserved'), total(look, 'sold')];
  const right = agree && segments + reserve + transit + reserved + sold === put;
  return { put, segments, reserve, transit, reserved, sold, right };
}
