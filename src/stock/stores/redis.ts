import { Engine } from '../../backends/redis/engine.ts';
import { meaning } from '../../backends/redis/errors.ts';
import { portOf, type RedisClient } from '../../backends/redis/port.ts';
import { checkPrefix } from '../../core/key.ts';
import { StockError } from '../errors.ts';
import { QUICK, RELAYOUT, STEP } from '../redis/scripts.generated.ts';
import type { Reply, Take } from '../step.ts';
import type { Layout, StockStore } from '../store.ts';

export interface RedisStockOptions {
  /** What all keys begin with; default `holdfast`. */
  readonly prefix?: string;
}

/**
 * On one Redis (6.2 or newer) or Valkey, on a Cluster (each segment has a slot of its own), or on several independent
 * servers: segment i is on the server i modulo their number, the reserve and the layout on the first.
 * @param clients a connected ioredis or node-redis client, or several: everywhere the same servers in the same order
 * @throws LockError `LOCK_INVALID`, StockError `STOCK_INVALID`
 */
export function redisStock(
  clients: RedisClient | readonly RedisClient[],
  { prefix = 'holdfast' }: RedisStockOptions = {},
): StockStore {
  const list = Array.isArray(clients) ? (clients as readonly RedisClient[]) : [clients as RedisClient];
  if (list.length === 0) throw new StockError('STOCK_INVALID', 'redisStock() needs a client');
  const engines = list.map((client) => new Engine(portOf(client)));
  const base = `${checkPrefix(prefix)}:stock:`;
  const layoutKey = (product: string): string => `${base}{${product}}:layout`;
  const keysOf = (product: string, cell: number): string[] =>
    ['cell', 'requests', 'bought', 'due'].map((part) => `${base}{${product}/${cell}}:${part}`);
  const engineOf = (cell: number): Engine => engines[Math.max(0, cell) % engines.length]!;

  async function asked<T>(product: string, act: () => Promise<unknown>): Promise<T> {
    try {
      return (await act()) as T;
    } catch (error) {
      throw meaning(error, 'change the stock of', decodeURIComponent(product));
    }
  }

  async function quickly(product: string, cell: number, take: Take): Promise<Reply | undefined> {
    const { epoch, id, buyer, units, ttl, limit, already } = take;
    const args = [epoch, id, buyer, units, ttl, limit, already].map(String);
    const now = Number(await asked(product, () => engineOf(cell).run(QUICK, keysOf(product, cell), args)));
    return now === 0 ? undefined : { is: 'done', units, buyer, until: ttl > 0 ? now + ttl : 0, now };
  }

  return {
    name: 'redis',
    servers: engines.length,
    async layout(product) {
      const text = await engines[0]!.command('read the stock', 'GET', layoutKey(product));
      return text === null ? undefined : (JSON.parse(`${text}`) as Layout);
    },
    async relayout(product, was, layout) {
      const args = [`${was}`, JSON.stringify(layout)];
      return (await asked(product, () => engines[0]!.run(RELAYOUT, [layoutKey(product)], args))) === 1;
    },
    async step(product, cell, steps) {
      const [take] = steps;
      if (steps.length === 1 && take?.op === 'take' && take.token === '') {
        const taken = await quickly(product, cell, take);
        if (taken) return [taken];
      }
      const args = [JSON.stringify(steps)];
      const text = await asked(product, () => engineOf(cell).run(STEP, keysOf(product, cell), args));
      return JSON.parse(`${text}`) as Reply[];
    },
    async remove(product, cells) {
      // A key at a time: a Cluster takes no command over several slots.
      await engines[0]!.command('remove the stock', 'DEL', layoutKey(product));
      for (const cell of cells) await engineOf(cell).command('remove the stock', 'DEL', ...keysOf(product, cell));
    },
  };
}
