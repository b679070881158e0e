/** The ways to sell that are compared. Each buyer wants one unit; a sale is `work`, and done when `work` is done. */

import { isStockError, type Product, type Stock } from '../../products/stock/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { note } from '../rush/notes.ts';
import type { Till } from './till.ts';

/** What a way needs: the count that the first ones keep themselves, or a product of `holdfast/stock`. */
export interface Shop {
  readonly till: Till;
  readonly locks: Locks;
  readonly stock: Stock;
  readonly product: string;
}

/** What a sale takes between reading and writing, and the row of the order. */
export interface Steps {
  pay(): Promise<void>;
  /** @param segment where the unit was */
  order(segment: number): Promise<void>;
}

/** Whether this buyer got a unit. */
export type Sell = (buyer: string, steps: Steps) => Promise<boolean>;

export interface Way {
  /** For programs. */
  readonly id: string;
  readonly name: string;
  /** 0: no segments, a plain count. */
  readonly segments: number;
  /** What is only shown to see it go wrong. */
  readonly unsafe?: boolean;
  open(shop: Shop): Promise<Sell>;
}

export const SEGMENTS: readonly number[] = [1, 5, 20, 100];

/** Reads the count, takes the money, and writes the count: right only when nobody else does so meanwhile. */
async function countDown({ till, product }: Shop, buyer: string, { pay, order }: Steps): Promise<boolean> {
  const left = await till.count(product);
  note(buyer, 'reads', { thing: 0, left });
  if (left <= 0) return false;
  await pay();
  await till.setCount(product, left - 1);
  await order(0);
  return true;
}

/** An ordinary mutex, which no other process sees. */
const inThisProcess = createLocks(memory());

const underOneLock =
  (locksOf: (shop: Shop) => Locks): Way['open'] =>
  async (shop) => {
    const lock = locksOf(shop).mutex(`sale:${shop.product}:0`);
    return (buyer, steps) =>
      lock.run(({ token }) => {
        note(buyer, 'enters', { thing: 0, token: `${token}` });
        return countDown(shop, buyer, steps);
      });
  };

/** Sold out is an answer like any other; anything else is an error. */
async function sold(sale: Promise<unknown>): Promise<boolean> {
  try {
    await sale;
    return true;
  } catch (error) {
    if (isStockError(error, 'STOCK_SOLD_OUT')) return false;
    throw error;
  }
}

const opened =
  (sell: (product: Product, buyer: string, steps: Steps) => Promise<unknown>): Way['open'] =>
  async ({ stock, product }) => {
    const goods = await stock.open(product);
    return (buyer, steps) => sold(sell(goods, buyer, steps));
  };

/** @param segments of which the units are */
export const underLockOfSegment = (segments: number): Way => ({
  id: `segments-${segments}`,
  name: `${segments} ${segments === 1 ? 'segment' : 'segments'}, under the lock`,
  segments,
  open: opened((product, buyer, { pay, order }) =>
    product.sell({ buyer }, async ({ segment, token }) => {
      note(buyer, 'enters', { thing: segment, token: `${token}` });
      await pay();
      await order(segment);
    }),
  ),
});

export const reserveThenConfirm = (segments: number): Way => ({
  id: `reserve-${segments}`,
  name: 'reserve, work, confirm',
  segments,
  open: opened(async (product, buyer, { pay, order }) => {
    const { ref, segment } = await product.reserve({ buyer });
    note(buyer, 'enters', { thing: segment });
    await pay();
    await product.confirm(ref);
    await order(segment);
  }),
});

export const WAYS: readonly Way[] = [
  {
    id: 'none',
    name: 'no lock',
    segments: 0,
    unsafe: true,
    open: async (shop) => (buyer, steps) => countDown(shop, buyer, steps),
  },
  {
    id: 'in-process',
    name: 'a lock inside each process',
    segments: 0,
    unsafe: true,
    open: underOneLock(() => inThisProcess),
  },
  { id: 'one-lock', name: 'one lock', segments: 0, open: underOneLock(({ locks }) => locks) },
  ...SEGMENTS.map(underLockOfSegment),
  reserveThenConfirm(20),
  {
    id: 'atomic-20',
    name: 'one atomic step',
    segments: 20,
    open: opened(async (product, buyer, { pay, order }) => {
      const { segment } = await product.take({ buyer });
      await pay();
      await order(segment);
    }),
  },
];

/** The page sells fewer units, and so has fewer segments. */
const OF_THE_PAGE: readonly Way[] = [underLockOfSegment(3), reserveThenConfirm(3)];

export function wayOf(id: string): Way {
  const way = [...WAYS, ...OF_THE_PAGE].find((each) => each.id === id);
  if (!way) throw new Error(`there is no way to sell that is called ${JSON.stringify(id)}`);
  return way;
}
