import { systemClock } from '../../src/core/index.ts';
import { MAX_ORDERS } from './batching.ts';
import { RESERVE, type Reply, type Take } from './cell.ts';
import { type Cells, isUnmoved, sourceFor, total, transits } from './cells.ts';
import { soldOutError } from './errors.ts';
import type { LayoutCache } from './layout.ts';

/** The least to fetch at a time: the rest is for the next buyers. */
const MIN_BATCH = 8;
/** How often to look again for units that others move. */
const MAX_ATTEMPTS = 100;

/** An order that found its segment empty. */
interface WaitingOrder {
  readonly take: Take;
  /** When it was made, by the machine's clock. ms. */
  readonly came: number;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

/**
 * Fetches units into empty segments: from the reserve, then from the other segments. They arrive and are taken in one step. A process
 * has one fetch for a segment under way at a time, for all orders that wait. Orders that come meanwhile share the next fetch.
 */
export class Supply {
  readonly #cells: Cells;
  readonly #layout: LayoutCache;
  /** The orders that wait for the next fetch, by segment. There is a queue as long as a fetch is under way. */
  readonly #queues = new Map<number, WaitingOrder[]>();
  /** The last search that found too little: when it began, and what was left. */
  #lastShortage = { at: Number.NEGATIVE_INFINITY, left: 0, final: false };

  constructor(cells: Cells, layout: LayoutCache) {
    this.#cells = cells;
    this.#layout = layout;
  }

  /** Why an order cannot be served, if that is known here: something that was true at a moment after the order came. */
  refusal(units: number, came: number): Error | undefined {
    const { at, left, final } = this.#lastShortage;
    return units > left && at >= came ? soldOutError(this.#cells.name, left, units, final) : undefined;
  }

  /**
   * As `refusal`, where nothing can change it but a removal of the product. It asks for that, once for all orders that come together.
   * @throws StockError `STOCK_UNKNOWN` when the product was removed
   */
  async finalRefusal(units: number): Promise<Error> {
    await this.#layout.reread();
    return soldOutError(this.#cells.name, this.#lastShortage.left, units, true);
  }

  /** So many units will never be left again. */
  over(units: number): boolean {
    const { left, final } = this.#lastShortage;
    return final && units > left;
  }

  /** @throws StockError `STOCK_SOLD_OUT` */
  fetch(home: number, take: Take, came: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const want = { take, came, resolve, reject };
      const queue = this.#queues.get(home);
      if (queue) queue.push(want);
      else void this.#serve(home, [want]);
    });
  }

  async #serve(home: number, queue: WaitingOrder[]): Promise<void> {
    this.#queues.set(home, queue);
    await undefined; // orders that were answered together with the first one join it here
    while (queue.length > 0) await this.#fetch(home, queue.splice(0, MAX_ORDERS));
    this.#queues.delete(home);
  }

  async #fetch(home: number, wants: WaitingOrder[]): Promise<void> {
    let left = wants;
    try {
      left = this.#refused(left);
      if (left.length > 0)
        left = stillWaiting(left, await this.#bring(RESERVE, home, left, Math.max(sum(left), MIN_BATCH)));
      for (let attempts = 0; left.length > 0 && attempts < MAX_ATTEMPTS; attempts++)
        left = await this.#search(home, left);
      for (const { resolve } of left) resolve({ is: 'busy' });
    } catch (error) {
      for (const { reject } of left) reject(error);
    }
  }

  /** Searches all cells once. @returns the orders that still want units */
  async #search(home: number, wants: WaitingOrder[]): Promise<WaitingOrder[]> {
    const { cells, closed, epoch } = await this.#layout.get();
    const began = systemClock.now();
    const look = await this.#cells.look(cells);
    // The units may be in segments that this layout does not know.
    if ([...look.values()].some((cell) => cell.epoch !== epoch)) {
      for (const { resolve } of wants) resolve({ is: 'stale' });
      return [];
    }
    let left = wants;
    const free = total(look, 'free');
    if (left.some(({ take }) => take.units > free)) {
      const moving = transits(look);
      if (moving.length > 0) {
        await Promise.all(moving.map((transit) => this.#cells.finish(transit)));
        return left;
      }
      const again = await this.#cells.look(cells);
      if (!isUnmoved(look, again) || again.get(home)!.epoch !== epoch) return left;
      const final = closed && total(again, 'reserved') === 0;
      // At one moment there was no more than this. The sum of the second look may be too small: units may have come back to cells that
      // it had passed, while others bought from cells ahead of it.
      this.#lastShortage = { at: began, left: free, final };
      left = this.#refused(left);
      if (left.length === 0) return [];
    }
    const [first] = left;
    const here = look.get(home)!.free;
    const source = sourceFor(look, home, first!.take.units);
    if (source === undefined) return left;
    const wanted = Math.max(sum(left) - here, MIN_BATCH);
    // The reserve may be used up. A segment keeps half of what it has, unless one order needs more.
    const spare = source === RESERVE ? wanted : Math.min(wanted, Math.floor(look.get(source)!.free / 2));
    return stillWaiting(left, await this.#bring(source, home, left, Math.max(first!.take.units - here, spare)));
  }

  async #bring(source: number, home: number, wants: readonly WaitingOrder[], units: number): Promise<readonly Reply[]> {
    const takes = wants.map(({ take }) => take);
    return source === home ? this.#cells.step(home, takes) : this.#cells.move(source, home, units, takes);
  }

  /** Refuses the orders for which too little is left. @returns the others */
  #refused(wants: readonly WaitingOrder[]): WaitingOrder[] {
    return wants.filter(({ take, came, reject }) => {
      const refusal = this.refusal(take.units, came);
      if (refusal) reject(refusal);
      return !refusal;
    });
  }
}

const sum = (wants: readonly WaitingOrder[]): number => wants.reduce((units, { take }) => units + take.units, 0);

/** @returns the orders that got no answer, or found nothing */
function stillWaiting(wants: readonly WaitingOrder[], replies: readonly Reply[]): WaitingOrder[] {
  return wants.filter(({ resolve }, i) => {
    const reply = replies[i];
    if (!reply || reply.is === 'empty') return true;
    resolve(reply);
    return false;
  });
}
