import { systemClock } from '../core/clock.ts';
import type { Locks } from '../locks.ts';
import { type Audit, auditOf } from './audit.ts';
import { type Cell, RESERVE } from './cell.ts';
import { StockError } from './errors.ts';
import { checkCount, checkName, checkOptions, MAX_SEGMENTS, MAX_UNITS } from './input.ts';
import { LayoutOf } from './layout.ts';
import { Cells, type Look } from './look.ts';
import {
  type Levels,
  ORDER,
  type Order,
  type Reserved,
  type ReserveOrder,
  type Sale,
  type SellOrder,
  type Sold,
  ttlOf,
  wishOf,
} from './order.ts';
import { type Rebalancing, rebalance } from './rebalancer.ts';
import { refusal } from './refusals.ts';
import { Seller } from './seller.ts';
import type { StockStore } from './store.ts';

/** One product whose units are split over segments. Made by `createStock(…).create` or `.open`. */
export class Product {
  readonly name: string;
  readonly #encoded: string;
  readonly #cells: Cells;
  readonly #layout: LayoutOf;
  readonly #seller: Seller;
  readonly #locks: Locks | undefined;

  /** @internal */
  constructor(store: StockStore, name: string, locks: Locks | undefined) {
    this.name = name;
    this.#encoded = checkName(name, 'product');
    this.#cells = new Cells(store, this.#encoded);
    this.#layout = new LayoutOf(store, this.#encoded, this.#cells);
    this.#seller = new Seller(this.#cells, this.#layout, name);
    this.#locks = locks;
  }

  /** @internal @param identity which one of the name; by default the one that is there now */
  async opened(identity?: string): Promise<this> {
    if (identity !== undefined) this.#cells.bind(identity);
    await this.#layout.read();
    return this;
  }

  /**
   * Keeps units for a buyer until they are confirmed, cancelled, or the time is over. One atomic step, without a lock.
   * @throws StockError `STOCK_SOLD_OUT`, `STOCK_LIMIT`, `STOCK_REQUEST_REUSED`; `STOCK_EXPIRED`, `STOCK_CANCELLED` when that
   * is what became of this request before; `STOCK_BUSY`, `STOCK_INVALID`
   */
  async reserve(order: ReserveOrder = {}): Promise<Reserved> {
    checkOptions(order, [...ORDER, 'ttl'], 'reserve');
    return this.#seller.obtain(wishOf(order, ttlOf(order)));
  }

  /** Sells at once: `reserve` and `confirm` in one atomic step. Throws as `reserve`. */
  async take(order: Order = {}): Promise<Reserved> {
    checkOptions(order, ORDER, 'take');
    return this.#seller.obtain(wishOf(order, 0));
  }

  /**
   * Sells under the lock of the buyer's segment, around business logic of the caller's own: one at a time in each segment.
   * The units are reserved before `work` (for `ttl`, default 10 minutes: it must not take longer), confirmed after it, and
   * given back when it throws. A sale that was done before is not done again; one that a dead process left half done is.
   * @throws StockError as `reserve`; LockError `LOCK_TIMEOUT`, `LOCK_ABORTED`, `LOCK_FENCED` when the lock was lost meanwhile
   */
  async sell<T>(order: SellOrder, work: (sale: Sale) => Promise<T> | T): Promise<Sold<T>> {
    checkOptions(order, [...ORDER, 'ttl', 'wait', 'signal'], 'sell');
    const locks = this.#needLocks('sell under a lock');
    const wish = wishOf(order, ttlOf(order));
    const { wait, signal } = order;
    for (;;) {
      const segment = await this.#seller.segmentOf(wish);
      const lock = locks.mutex(`stock:${this.#encoded}:${segment}`);
      const sold = await lock.run<Sold<T> | undefined>(
        async (lease) => {
          const { token } = lease;
          const kept = await this.#seller.obtainAt(segment, wish, `${token}`);
          if (!kept) return undefined; // the layout changed while we waited: another lock is the right one
          if (kept.remaining === 0) return kept;
          let result: T;
          try {
            result = await work({ ...kept, token, signal: lease.signal });
          } catch (error) {
            await this.#seller.settle(kept.ref, 'cancelled', `${token}`).catch(() => {}); // it runs out by itself
            throw error;
          }
          return { ...(await this.#seller.settle(kept.ref, 'sold', `${token}`)), repeated: false, result };
        },
        { ...(wait === undefined ? {} : { wait }), ...(signal === undefined ? {} : { signal }) },
      );
      if (sold) return sold;
    }
  }

  /**
   * The reserved units are sold. Harmless when repeated.
   * @throws StockError `STOCK_EXPIRED`, `STOCK_CANCELLED`, `STOCK_UNKNOWN`
   */
  confirm(ref: string): Promise<Reserved> {
    return this.#seller.settle(ref, 'sold', '');
  }

  /**
   * The reserved units come back. Harmless when repeated.
   * @throws StockError `STOCK_CONFIRMED`, `STOCK_EXPIRED`, `STOCK_UNKNOWN`
   */
  cancel(ref: string): Promise<Reserved> {
    return this.#seller.settle(ref, 'cancelled', '');
  }

  /**
   * Puts more units into the reserve, while selling.
   * @param request repeating it with the same id counts once
   * @throws StockError `STOCK_CLOSED`, `STOCK_REQUEST_REUSED`, `STOCK_INVALID`
   */
  async restock(units: number, options: { readonly request?: string } = {}): Promise<void> {
    checkOptions(options, ['request'], 'restock');
    const { request = systemClock.id() } = options;
    const id = `p:${checkName(request, 'request')}`;
    checkCount(units, 'units', 1, MAX_UNITS);
    let layout = await this.#layout.get();
    for (;;) {
      if (layout.closed) layout = await this.#layout.read();
      if (layout.closed) {
        const [found] = await this.#cells.step(RESERVE, { op: 'find', id, buyer: '' });
        if (found!.is === 'put' && found!.units === units) return; // before it was closed
        const message = `restocking of ${JSON.stringify(this.name)} was closed for good: sell what is left, or create another product`;
        throw new StockError('STOCK_CLOSED', message, { product: this.name });
      }
      const [reply] = await this.#cells.step(RESERVE, { op: 'put', epoch: layout.epoch, id, units });
      if (reply!.is === 'done' || reply!.is === 'put') return;
      if (reply!.is !== 'stale') throw refusal(reply!, this.name);
      layout = await this.#layout.read();
    }
  }

  /** Nothing is put in from now on, so that *sold out* can be final. */
  async closeRestocking(): Promise<void> {
    await this.#layout.change(({ sizes, closed }) =>
      closed ? undefined : { size: sizes.at(-1)!, closed: true, put: {} },
    );
  }

  /**
   * Another number of segments, while selling. What is left in segments that are no longer sold from is moved by the
   * rebalancer, or fetched by the next buyer who needs it.
   */
  async resize(segments: number): Promise<void> {
    const size = checkCount(segments, 'segments', 1, MAX_SEGMENTS);
    await this.#layout.change(({ sizes, closed }) => (sizes.at(-1) === size ? undefined : { size, closed, put: {} }));
  }

  /** What is where, read cell by cell. */
  async levels(): Promise<Levels> {
    const look = await this.#look();
    const values = [...look].filter(([i]) => i !== RESERVE).map(([, cell]) => cell);
    const sum = (what: 'reserved' | 'sold') => [...look.values()].reduce((units, cell) => units + cell[what], 0);
    const free = ({ free: units }: Cell) => units;
    return {
      reserve: look.get(RESERVE)!.free,
      segments: values.map(free),
      reserved: sum('reserved'),
      sold: sum('sold'),
    };
  }

  /**
   * Counts everything, cell by cell and request by request. Reads all requests: for tests and for the day's end.
   * @throws StockError `STOCK_BUSY` when units keep moving
   */
  async audit(): Promise<Audit> {
    const { cells } = await this.#layout.read();
    return auditOf(this.#cells, cells, this.name);
  }

  /**
   * Keeps segments filled from the reserve until `signal` says to stop, or until restocking is closed and the reserve is
   * empty. Start it in every process: a lock sees to it that one at a time works. It outlives an engine that is out of reach for
   * less than a minute.
   * @throws what keeps it from asking the engine, where that does not pass
   */
  async rebalance(options: Rebalancing = {}): Promise<void> {
    const lock = this.#needLocks('rebalance').mutex(`stock:${this.#encoded}:rebalancer`);
    return rebalance({ lock, cells: this.#cells, layout: this.#layout, resize: (n) => this.resize(n) }, options);
  }

  async #look(): Promise<Look> {
    return this.#cells.look((await this.#layout.read()).cells); // another process may have added segments
  }

  #needLocks(what: string): Locks {
    if (this.#locks) return this.#locks;
    throw new StockError('STOCK_INVALID', `to ${what}, give locks: createStock(store, { locks })`, {
      product: this.name,
    });
  }
}
