/** The ways to sell that are compared. Each buyer wants one unit; a sale is `work`, and done when `work` is done. */
import type { Redis } from 'ioredis';
import type { Locks } from '../../src/index.ts';
import { isStockError, type Product, type Stock } from '../../src/stock/index.ts';

/** What a way needs: the count that the first two keep themselves, or a product of `holdfast/stock`. */
export interface Shop {
  readonly client: Redis;
  readonly locks: Locks;
  readonly stock: Stock;
  readonly product: string;
}

/** Whether this buyer got a unit. */
export type Sell = (buyer: string, work: () => Promise<void>) => Promise<boolean>;

export interface Way {
  readonly name: string;
  /** 0: no segments, a plain count. */
  readonly segments: number;
  /** What is only shown to see it go wrong. */
  readonly unsafe?: boolean;
  open(shop: Shop): Promise<Sell>;
}

export const SEGMENTS: readonly number[] = [1, 5, 20, 100];

/** Reads the count, works, and writes the count: right only when nobody else does so meanwhile. */
async function countDown({ client, product }: Shop, work: () => Promise<void>): Promise<boolean> {
  const left = Number(await client.get(countOf(product)));
  if (left <= 0) return false;
  await work();
  await client.set(countOf(product), left - 1);
  return true;
}

export const countOf = (product: string): string => `count:${product}`;

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
  (sell: (product: Product, buyer: string, work: () => Promise<void>) => Promise<boolean>): Way['open'] =>
  async ({ stock, product }) => {
    const goods = await stock.open(product);
    return (buyer, work) => sell(goods, buyer, work);
  };

export const WAYS: readonly Way[] = [
  {
    name: 'no lock',
    segments: 0,
    unsafe: true,
    open: async (shop) => (_buyer, work) => countDown(shop, work),
  },
  {
    name: 'one lock',
    segments: 0,
    open: async (shop) => (_buyer, work) => shop.locks.mutex(`sale:${shop.product}`).run(() => countDown(shop, work)),
  },
  ...SEGMENTS.map((segments) => ({
    name: `${segments} ${segments === 1 ? 'segment' : 'segments'}, under the lock`,
    segments,
    open: opened((product, buyer, work) => sold(product.sell({ buyer }, work))),
  })),
  {
    name: 'reserve, work, confirm',
    segments: 20,
    open: opened((product, buyer, work) =>
      sold(
        product.reserve({ buyer }).then(async ({ ref }) => {
          await work();
          await product.confirm(ref);
        }),
      ),
    ),
  },
  {
    name: 'one atomic step',
    segments: 20,
    open: opened(async (product, buyer, work) => {
      const got = await sold(product.take({ buyer }));
      if (got) await work();
      return got;
    }),
  },
];
