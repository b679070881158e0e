import { Redis } from 'ioredis';
import { createStock, isStockError, redisStock } from '../../products/stock/index.ts';
import { redis } from '../../src/backends/redis/index.ts';
import { createLocks } from '../../src/index.ts';
import { serve } from '../kit/worker.ts';

const client = new Redis(Number(process.env.REDIS_PORT), '127.0.0.1', { enableReadyCheck: false });
client.on('error', () => {});
const stock = createStock(redisStock(client), { locks: createLocks(redis(client), { ttl: 1_000 }) });

export type Calls = typeof calls;
export type Way = 'take' | 'reserve' | 'sell';

const calls = {
  /** Sells one unit after the other until none is left, or this process dies; returns how many it sold for sure. */
  async sellOut(name: string, way: Way, ttl: number): Promise<number> {
    const product = await stock.open(name);
    const buyer = () => ({ buyer: `${process.pid} ${Math.random()}`, ...(way === 'take' ? {} : { ttl }) });
    const once = {
      take: () => product.take(buyer()),
      reserve: async () => product.confirm((await product.reserve(buyer())).ref),
      sell: () => product.sell(buyer(), () => new Promise((resolve) => setTimeout(resolve, 2))),
    }[way];
    for (let sold = 0; ; sold++) {
      try {
        await once();
      } catch (error) {
        if (isStockError(error, 'STOCK_SOLD_OUT')) return sold;
        throw error;
      }
    }
  },
  /** Moves a unit at a time, without end. */
  async rebalance(name: string): Promise<void> {
    await (await stock.open(name)).rebalance({ low: 1_000, batch: 1, every: 10 });
  },
};

serve(calls);
