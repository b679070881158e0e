import { systemClock } from '../../src/core/index.ts';
import { MAX_ORDERS } from './batching.ts';
import { RESERVE, type Reply, type Take } from './cell.ts';
import { type Cells, isUnmoved, sourceFor, total, transits } from './cells.ts';
import { soldOutError } from './errors.ts';
import type { LayoutCache } from './layout.ts';

/** The least to fetch at a time: units left over are for the next buyers. */
const MIN_BATCH = 8;
/** How often to search again because units are moving. */
const MAX_ATTEMPTS = 100;

/** An order that found its segment empty. */
interface WaitingOrder {
  readonly take: Take;
  /** When the order was made, ms of the machine's clock. */
  readonly came: number;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

/**
 * Fetches units into empty segments: from the reserve, then from the other segments. One step lets them arrive and takes them. For each
 * segment, a process runs one fetch at a time for all orders that wait. Orders that come during a fetch share the next fetch.
 */
export class Supply {
  readonly #cells: Cells;
  readonly #layout: LayoutCache;
  /** By segment: the orders that wait for the next fetch. A segment has a queue while a fetch runs. */
  readonly #queues = new Map<number, WaitingOrder[]>();
  /** The last search that found too few units: when it began, and how many were left. */
  #lastShortage = { at: Number.NEGATIVE_INFINITY, left: 0, final: false };

  constructor(cells: Cells, layout: LayoutCache) {
    this.#cells = cells;
    this.#layout = layout;
  }

  /** The refusal of an order, if the last search that found too few units began after the order came. */
  refusal(units: number, came: number): Error | undefined {
    const { at, left, final } = this.#lastShortage;
    return units > left && at >= came ? soldOutError(this.#cells.name, left, units, final) : undefined;
  }

  /**
   * The refusal after a final shortage. Only a removal of the product can change it, so this reads the layout, once for all orders that
   * come together.
   * @throws StockError `STOCK_UNKNOWN` if the product was removed
   */
  async finalRefusal(units: number): Promise<Error> {
    await this.#layout.reread();
    return soldOutError(this.#cells.name, this.#lastShortage.left, units, true);
  }

  /** Whether so many units will never be free again. */
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
    await undefined; // orders that were answered together with the first one join the queue here
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
    // After a resize, units may be in segments that this layout does not have.
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
      // `free` is from the first look: at one moment no more units were free. The second look may find too few: first it reads a cell,
      // then units come back to this cell, then others buy from a cell that it has not read yet.
      this.#lastShortage = { at: began, left: free, final };
      left = this.#refused(left);
      if (left.length === 0) return [];
    }
    const [first] = left;
    const here = look.get(home)!.free;
    const source = sourceFor(look, home, first!.take.units);
    if (source === undefined) return left;
    const wanted = Math.max(sum(left) - here, MIN_BATCH);
    // The reserve may be used up. A segment keeps half of its free units, unless the first order needs more.
    const spare = source === RESERVE ? wanted : Math.min(wanted, Math.floor(look.get(source)!.free / 2));
    return stillWaiting(left, await this.#bring(source, home, left, Math.max(first!.take.units - here, spare)));
  }

  async #bring(source: number, home: number, wants: readonly WaitingOrder[], units: number): Promise<readonly Reply[]> {
    const takes = wants.map(({ take }) => take);
    return source === home ? this.#cells.step(home, takes) : this.#cells.move(source, home, units, takes);
  }

  /** Refuses the orders for which too few units are left. @returns the other orders */
  #refused(wants: readonly WaitingOrder[]): WaitingOrder[] {
    return wants.filter(({ take, came, reject }) => {
      const refusal = this.refusal(take.units, came);
      if (refusal) reject(refusal);
      return !refusal;
    });
  }
}

const sum = (wants: readonly WaitingOrder[]): number => wants.reduce((units, { take }) => units + take.units, 0);

/** @returns the orders that got no answer, or found too few units */
function stillWaiting(wants: readonly WaitingOrder[], replies: readonly Reply[]): WaitingOrder[] {
  return wants.filter(({ resolve }, i) => {
    const reply = replies[i];
    if (!reply || reply.is === 'empty') return true;
    resolve(reply);
    return false;
  });
}
