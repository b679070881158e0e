import { type Duration, systemClock } from '../../src/core/index.ts';
import type { Locks } from '../../src/locks.ts';
import { Cells } from './cells.ts';
import { errorOf, StockError } from './errors.ts';
import { checkCount, checkDuration, checkName, checkOptions, checkShare, MAX_SEGMENTS, MAX_UNITS } from './input.ts';
import { afterNext, spread } from './layout.ts';
import { Product } from './product.ts';
import { type StockStore, withTimeout } from './store.ts';

/** Options of `createStock`. */
export interface StockOptions {
  /** The locks that `sell` and `rebalance` need. */
  readonly locks?: Locks;
  /** How long one call to the store may take. After that its outcome is unknown (`LOCK_UNAVAILABLE`). Default 10 s. */
  readonly timeout?: Duration;
}

/** Options of a new product. */
export interface ProductOptions {
  /** The number of units at the beginning, from 0. */
  readonly units: number;
  /** How many, from 1 to 1,000. Default 8. */
  readonly segments?: number;
  /** The share of the units that is kept in the reserve, for segments that need more: 0 to 1. Default 0.2. */
  readonly reserve?: number;
  /** The most units that one buyer may have. Without a buyer, the limit is for each order. Default: no limit. */
  readonly limit?: number;
}

/** Products on one store. */
export interface Stock {
  /**
   * Makes a product.
   * @throws StockError `STOCK_EXISTS`, `STOCK_INVALID`
   * @example
   * const stock = createStock(memoryStock());
   * const phones = await stock.create('phone', { units: 2_000, segments: 20, limit: 2 });
   */
  create(product: string, options: ProductOptions): Promise<Product>;
  /**
   * @throws StockError `STOCK_UNKNOWN`, `STOCK_INVALID`
   * @example
   * const stock = createStock(redisStock(client), { locks });
   * const phones = await stock.open('phone');
   */
  open(product: string): Promise<Product>;
  /**
   * Forgets the product, its sales and its buyers. Sales at this time may fail with `STOCK_UNKNOWN`. A `Product` that was open
   * throws `STOCK_UNKNOWN` from then on. If there is a new product of the same name, open the new one.
   * @throws StockError `STOCK_UNKNOWN`, `STOCK_INVALID`
   * @example
   * const stock = createStock(redisStock(client));
   * await stock.remove('phone');
   */
  remove(product: string): Promise<void>;
}

/**
 * Products whose units are sold without a lock for each unit.
 * @param given the store: `memoryStock()`, `sqliteStock(…)`, `redisStock(…)`, `sqlStock(…)`
 * @throws StockError `STOCK_INVALID`
 * @example const stock = createStock(redisStock(client), { locks: createLocks(redis(client)) });
 */
export function createStock(given: StockStore, options: StockOptions = {}): Stock {
  if (typeof given?.step !== 'function') {
    throw new StockError('STOCK_INVALID', 'createStock() needs a store: memoryStock(), sqliteStock(…), redisStock(…)…');
  }
  checkOptions(options, ['locks', 'timeout'], 'createStock');
  const { locks, timeout = '10s' } = options;
  const store = withTimeout(given, checkDuration(timeout, 'timeout'));
  return {
    async create(name, options) {
      checkOptions(options, ['units', 'segments', 'reserve', 'limit'], 'create');
      const product = checkName(name, 'product');
      const units = checkCount(options.units, 'units', 0, MAX_UNITS);
      const size = checkCount(options.segments === undefined ? 8 : options.segments, 'segments', 1, MAX_SEGMENTS);
      const limit = options.limit === undefined ? 0 : checkCount(options.limit, 'limit', 1, MAX_UNITS);
      const { reserve: share = 0.2 } = options;
      checkShare(share, 'reserve');
      const { reserve, segments } = spread(units, size, share);
      const put = Object.fromEntries([reserve, ...segments].map((n, i) => [i - 1, n]));
      const identity = systemClock.id();
      const made = await store.relayout(product, undefined, {
        identity,
        version: 1,
        servers: store.servers,
        epoch: 0,
        sizes: [],
        cells: 0,
        limit,
        closed: false,
        next: { size, closed: false, put },
      });
      if (!made) {
        const rest = ` is on ${store.name} already (made by this very call, if its answer was lost): open() it`;
        throw errorOf('STOCK_EXISTS', name, rest);
      }
      return new Product(store, name, locks).opened(identity);
    },
    open: async (name) => new Product(store, name, locks).opened(),
    remove: async (name) => removeProduct(store, checkName(name, 'product')),
  };
}

/**
 * Forgets a product. First the layout is marked as removed, so that no process opens or resizes the product any more. The name is free
 * again when all cells are removed. If a removal breaks off, the next one finishes it.
 * @throws StockError `STOCK_UNKNOWN`
 */
async function removeProduct(store: StockStore, product: string): Promise<void> {
  const cells = new Cells(store, product);
  let began = false;
  for (;;) {
    const layout = await store.layout(product);
    if (!layout && !began) throw errorOf('STOCK_UNKNOWN', cells.name, ` is not on ${store.name}`);
    if (!layout || !cells.bind(layout.identity)) return; // another process has removed it
    began = true;
    if (!layout.removed) {
      await store.relayout(product, layout, { ...afterNext(layout), version: layout.version + 1, removed: true });
      continue;
    }
    await cells.clear(layout.cells);
    await store.relayout(product, layout, undefined);
  }
}
