import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Take } from '../../products/stock/cell.ts';
import { redisStock, type StockStore } from '../../products/stock/index.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { ioredisAt, ORDINARY } from './stores.ts';

const LONG = 60_000;

describeOn('redis', 'ordinary orders on Redis', () => {
  const stack = new AsyncDisposableStack();
  let client: Redis;
  let store: StockStore;
  beforeAll(async () => {
    client = ioredisAt(stack.use(await startRedis()).port, stack);
    store = redisStock(client);
  });
  afterAll(() => stack.disposeAsync());

  let last = 0;
  /** A cell with so many units, and what takes some of them. */
  async function cellOf(units: number) {
    const name = `ordinary ${++last}`;
    await store.step(name, 0, [
      { op: 'open', epoch: 1 },
      { op: 'put', epoch: 1, id: 'p:', units },
    ]);
    let orders = 0;
    return {
      async take(order: Partial<Take>): Promise<string> {
        const [reply] = await store.step(name, 0, [{ ...ORDINARY, id: `r:${++orders}`, ...order }]);
        return reply!.is;
      },
      /** The units of each buyer, as they are stored. */
      bought: () => client.hgetall(`holdfast:stock:{${name}/0}:bought`),
      /** As it is stored: whoever asks the store for it lets come back what has run out. */
      stored: () => client.hgetall(`holdfast:stock:{${name}/0}:cell`),
    };
  }

  test('each costs one script: up to the last unit and the limit, at once or reserved, and beside what is reserved', async () => {
    const cell = await cellOf(8);
    await client.config('RESETSTAT');
    const orders: Partial<Take>[] = [
      { buyer: 'a', limit: 2 },
      { buyer: 'a', limit: 2, ttl: LONG },
      { buyer: 'b', limit: 2, units: 2 },
      { ttl: LONG },
      { buyer: 'c' },
      { units: 2 },
    ];
    for (const order of orders) expect(await cell.take(order)).toBe('done');
    expect(await client.info('commandstats')).toContain(`cmdstat_evalsha:calls=${orders.length},`);
    expect(await cell.stored()).toMatchObject({ free: '0', sold: '6', reserved: '2' });
    expect(await cell.take({})).toBe('empty');
  });

  test.each([
    0,
    LONG,
  ])('what has run out comes back before the next one, also of nobody, with a ttl of %i', async (ttl) => {
    const cell = await cellOf(9);
    await cell.take({ ttl: 1 });
    await cell.take({ ttl: 1, buyer: 'gone' });
    await sleep(5);
    expect(await cell.take({ ttl, buyer: 'a' })).toBe('done');
    const [sold, reserved] = ttl === 0 ? ['1', '0'] : ['0', '1'];
    expect(await cell.stored()).toMatchObject({ free: '8', sold, reserved });
    expect(await cell.bought(), 'nothing is kept of who has nothing').toEqual({ a: '1' });
  });

  test('an order that came before is answered as it was, and one above the limit, or with an old map, is refused', async () => {
    const cell = await cellOf(9);
    expect(await cell.take({ id: 'r:same', buyer: 'a' })).toBe('done');
    expect(await cell.take({ id: 'r:same', buyer: 'a' })).toBe('sold');
    expect(await cell.take({ buyer: 'a', units: 2, limit: 2 })).toBe('limit');
    expect(await cell.take({ epoch: 2 })).toBe('stale');
    for (const answer of ['done', 'limit']) expect(await cell.take({ buyer: 'one', limit: 1 })).toBe(answer);
    expect(await cell.take({ buyer: 'a', units: 1, limit: 2 }), 'counted once').toBe('done');
    expect(await cell.stored()).toMatchObject({ free: '6', sold: '3', reserved: '0' });
  });
});
