/** One process of the shop. */
import { setTimeout as pass } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { redis } from '../../src/backends/redis/index.ts';
import { createLocks } from '../../src/index.ts';
import { createStock, redisStock } from '../../src/stock/index.ts';
import { serve } from '../../test/kit/worker.ts';
import { countHandOvers } from '../hand-overs.ts';
import { type Sell, WAYS } from './ways.ts';

const client = new Redis(process.env.REDIS_URL!, { enableAutoPipelining: true });
client.on('error', () => {});
const locks = createLocks(redis(client));
const handOvers = countHandOvers();
const stock = createStock(redisStock(client), { locks });
let sell: Sell;
let orders: string;
let work: number;
let waiting = 0;

export type Calls = typeof calls;

const calls = {
  async open(way: number, product: string, ms: number): Promise<void> {
    sell = await WAYS[way]!.open({ client, locks, stock, product });
    orders = ordersOf(product);
    work = ms;
  },
  /** All of them at once; the ms that each waited for its answer. */
  buy: (buyers: readonly string[]): Promise<number[]> => Promise.all(buyers.map(buy)),
  /** Buyers without an answer, and how often one who waited for a lock got it. */
  look: (): { waiting: number; handOvers: number } => ({ waiting, handOvers: handOvers() }),
};

async function buy(buyer: string): Promise<number> {
  const began = performance.now();
  waiting++;
  await sell(buyer, async () => {
    await pass(work); // the payment, the order's row…
    await client.rpush(orders, buyer);
  });
  waiting--;
  return performance.now() - began;
}

function ordersOf(product: string): string {
  return `orders:${product}`;
}

serve(calls);
