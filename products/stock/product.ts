import { systemClock } from '../../src/core/index.ts';
import type { Locks } from '../../src/locks.ts';
import type { Mutex } from '../../src/primitives/lock.ts';
import { RESERVE } from './cell.ts';
import { type Audit, auditOf, Cells, levelsOf } from './cells.ts';
import { errorOf, refusal, StockError } from './errors.ts';
import {
  checkCount,
  checkedOrder,
  checkName,
  checkOptions,
  type Levels,
  MAX_SEGMENTS,
  MAX_UNITS,
  ORDER,
  type Order,
  type Reserved,
  type ReserveOrder,
  type Sale,
  type SellOrder,
  type Sold,
  ttlOf,
} from './input.ts';
import { LayoutCache } from './layout.ts';
import { type Rebalancing, rebalance } from './rebalancer.ts';
import { Seller, sellUnderLock } from './seller.ts';
import type { StockStore } from './store.ts';

/** A product whose units are split over segments, from `createStock(…).create` or `.open`. */
export class Product {
  /** The name of the product. */
  readonly name: string;
  readonly #cells: Cells;
  readonly #layout: LayoutCache;
  readonly #seller: Seller;
  readonly #locks: Locks | undefined;

  /** @internal */
  constructor(store: StockStore, name: string, locks: Locks | undefined) {
    this.name = name;
    this.#cells = new Cells(store, checkName(name, 'product'));
    this.#layout = new LayoutCache(this.#cells);
    this.#seller = new Seller(this.#cells, this.#layout);
    this.#locks = locks;
  }

  /** @internal @param identity which product of this name; by default the one that exists now */
  async opened(identity?: string): Promise<this> {
    if (identity !== undefined) this.#cells.bind(identity);
    await this.#layout.read();
    return this;
  }

  /**
   * Keeps units for a buyer until they are confirmed or cancelled, or `ttl` is over. One atomic step, without a lock.
   * @throws StockError `STOCK_SOLD_OUT`, `STOCK_LIMIT`, `STOCK_REQUEST_REUSED`; `STOCK_EXPIRED`, `STOCK_CANCELLED` if the same
   * request has expired or was cancelled before; `STOCK_BUSY`, `STOCK_INVALID`
   * @example const kept = await phones.reserve({ buyer: 'li', request: 'order-17', ttl: '10m' });
   */
  async reserve(order: ReserveOrder = {}): Promise<Reserved> {
    checkOptions(order, [...ORDER, 'ttl'], 'reserve');
    return this.#seller.obtain(checkedOrder(order, ttlOf(order)));
  }

  /**
   * Sells at once: `reserve` and `confirm` in one atomic step. Throws as `reserve`.
   * @example await phones.take({ buyer: 'li', request: 'order-18' });
   */
  async take(order: Order = {}): Promise<Reserved> {
    checkOptions(order, ORDER, 'take');
    return this.#seller.obtain(checkedOrder(order, 0));
  }

  /**
   * Runs `work`, your business logic, under the lock of the buyer's segment: one sale at a time in each segment. It reserves the
   * units before `work` (for `ttl`, default 10 minutes: `work` must not take longer), confirms them after it, and gives them back
   * if it throws. A repeat of a finished sale does not run `work`. A repeat of a sale whose process died does.
   * @throws StockError as `reserve`; LockError `LOCK_TIMEOUT`, `LOCK_ABORTED`, `LOCK_FENCED` if the lock was lost during the sale
   * @example await phones.sell({ buyer: 'li', request: 'order-19' }, (sale) => writeOrder(sale.ref, sale.token));
   */
  async sell<T>(order: SellOrder, work: (sale: Sale) => Promise<T> | T): Promise<Sold<T>> {
    checkOptions(order, [...ORDER, 'ttl', 'wait', 'signal'], 'sell');
    const lockOf = this.#lockOf('sell under a lock');
    return sellUnderLock(this.#seller, lockOf, order, checkedOrder(order, ttlOf(order)), work);
  }

  /**
   * Sells the reserved units. You may repeat the call.
   * @throws StockError `STOCK_EXPIRED`, `STOCK_CANCELLED`, `STOCK_UNKNOWN`
   */
  confirm(ref: string): Promise<Reserved> {
    return this.#seller.settle(ref, 'sold', '');
  }

  /**
   * Gives the reserved units back. You may repeat the call.
   * @throws StockError `STOCK_CONFIRMED`, `STOCK_EXPIRED`, `STOCK_UNKNOWN`
   */
  cancel(ref: string): Promise<Reserved> {
    return this.#seller.settle(ref, 'cancelled', '');
  }

  /**
   * Puts more units into the reserve, also while units are sold.
   * @param request an id: several calls with the same id count once
   * @throws StockError `STOCK_CLOSED`, `STOCK_REQUEST_REUSED`, `STOCK_INVALID`
   * @example await phones.restock(500, { request: 'delivery-3' });
   */
  async restock(units: number, options: { readonly request?: string } = {}): Promise<void> {
    checkOptions(options, ['request'], 'restock');
    const { request = systemClock.id() } = options;
    const id = `p:${checkName(request, 'request')}`;
    checkCount(units, 'units', 1, MAX_UNITS);
    return restock(this.#cells, this.#layout, id, units);
  }

  /**
   * Ends restocking for good, so that *sold out* can be final.
   * @example await phones.closeRestocking();
   */
  async closeRestocking(): Promise<void> {
    await this.#layout.close();
  }

  /**
   * Changes the number of segments, also while units are sold. Units in segments that are no longer used are moved by the rebalancer,
   * or fetched for the next buyer that needs them.
   * @example await phones.resize(40);
   */
  async resize(segments: number): Promise<void> {
    await this.#layout.resize(checkCount(segments, 'segments', 1, MAX_SEGMENTS));
  }

  /**
   * How many units there are, and where. It reads cell by cell.
   * @example const { segments, reserve } = await phones.levels();
   */
  async levels(): Promise<Levels> {
    const { cells } = await this.#layout.read(); // another process may have added segments
    return levelsOf(await this.#cells.look(cells));
  }

  /**
   * Counts the units of all cells and requests, and compares them. It reads all requests: use it in tests and at the end of a day.
   * @throws StockError `STOCK_BUSY` if units keep moving
   * @example const { right } = await phones.audit();
   */
  async audit(): Promise<Audit> {
    const { cells } = await this.#layout.read();
    return auditOf(this.#cells, cells);
  }

  /**
   * Fills segments from the reserve, until `signal` is aborted, or until restocking is closed and the reserve is empty. Start it in
   * every process: a lock lets one at a time work. The work goes on after the engine was out of reach for less than a minute.
   * @throws the error of the engine, if it lasts longer
   * @example await phones.rebalance({ signal });
   */
  async rebalance(options: Rebalancing = {}): Promise<void> {
    const lock = this.#lockOf('rebalance')('rebalancer');
    return rebalance(lock, this.#cells, this.#layout, options);
  }

  #lockOf(what: string): (part: string | number) => Mutex {
    const locks = this.#locks;
    if (locks) return (part) => locks.mutex(`stock:${this.#cells.product}:${part}`);
    throw errorOf('STOCK_INVALID', this.name, `: to ${what}, give locks: createStock(store, { locks })`);
  }
}

/**
 * Puts units into the reserve, once for each `id`.
 * @throws StockError `STOCK_CLOSED`, `STOCK_REQUEST_REUSED`
 */
async function restock(cells: Cells, layouts: LayoutCache, id: string, units: number): Promise<void> {
  let layout = await layouts.get();
  for (;;) {
    if (layout.closed) layout = await layouts.read();
    if (layout.closed) {
      const [found] = await cells.step(RESERVE, [{ op: 'find', id, buyer: '' }]);
      if (found!.is === 'put' && found!.units === units) return; // put in before restocking was closed
      const message = `restocking of ${JSON.stringify(cells.name)} was closed for good: sell what is left, or create another product`;
      throw new StockError('STOCK_CLOSED', message, { product: cells.name });
    }
    const [reply] = await cells.step(RESERVE, [{ op: 'put', epoch: layout.epoch, id, units }]);
    if (reply!.is === 'done' || reply!.is === 'put') return;
    if (reply!.is !== 'stale') throw refusal(reply!, cells.name);
    layout = await layouts.read();
  }
}
