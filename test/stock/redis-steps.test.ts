import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step, Take } from '../../products/stock/cell.ts';
import { redisStock, type StockStore } from '../../products/stock/index.ts';
import { askRedis, startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { ioredisAt, ORDINARY } from './stores.ts';

const LONG = 60_000;

describeOn('redis', 'steps on Redis', () => {
  const stack = new AsyncDisposableStack();
  let port: number;
  let client: Redis;
  let store: StockStore;
  beforeAll(async () => {
    ({ port } = stack.use(await startRedis()));
    client = ioredisAt(port, stack);
    store = redisStock(client);
  });
  afterAll(() => stack.disposeAsync());

  let last = 0;
  /** A cell with so many units, as the store sees it and as it is stored. */
  async function cellOf(units: number) {
    const name = `steps ${++last}`;
    const key = (part: string): string => `holdfast:stock:{${name}/0}:${part}`;
    let orders = 0;
    const step = (...steps: Step[]) => store.step(name, 0, steps);
    await step({ op: 'open', epoch: 1 }, { op: 'put', epoch: 1, id: 'p:', units });
    return {
      name,
      key,
      step,
      /** @returns the id of an order that was done */
      async take(order: Partial<Take>): Promise<string> {
        const id = `r:${++orders}`;
        const [reply] = await step({ ...ORDINARY, id, ...order });
        expect(reply!.is).toBe('done');
        return id;
      },
      /** Makes reservations run out long ago, without waiting for it. */
      async runOut(...ids: string[]): Promise<void> {
        for (const id of ids) {
          const [status, kept, , ...buyer] = (await client.hget(key('requests'), id))!.split(' ');
          await client.hset(key('requests'), id, [status, kept, 1, ...buyer].join(' '));
          await client.zadd(key('due'), 1, id);
        }
      },
      stored: () => client.hgetall(key('cell')),
      requests: () => client.hgetall(key('requests')),
      bought: () => client.hgetall(key('bought')),
    };
  }

  /** A store that may do all but some commands. */
  async function storeWithout(...missing: string[]): Promise<StockStore> {
    const denied = missing.map((name) => `-${name}`).join(' ');
    await askRedis(port, `ACL SETUSER steps reset on >pw ~holdfast:stock:* +@all ${denied}`);
    return redisStock(ioredisAt(port, stack, { username: 'steps', password: 'pw' }));
  }

  const take = { ...ORDINARY, id: 'r:', buyer: 'a' };

  test.each([
    ['as this one keeps it', { epoch: '1', free: '5', reserved: '0', sold: '0' }],
    ['by other names', { units: '5' }],
  ])('a cell in a format of a later version is refused and left alone, also where the rest is %s', async (_, rest) => {
    const cell = await cellOf(5);
    await client.del(cell.key('cell'));
    await client.hset(cell.key('cell'), { v: '2', ...rest });
    for (const step of [take, { op: 'look' }, { op: 'open', epoch: 1 }] as const)
      await expect(cell.step(step)).rejects.toMatchObject({
        code: 'LOCK_UNAVAILABLE',
        message: expect.stringContaining('a format this version does not know'),
      });
    expect(await cell.stored()).toEqual({ v: '2', ...rest });
    expect(Object.keys(await cell.requests())).toEqual(['p:']);
  });

  test('a cell that was lost is told as missing, also where one of its reservations has run out', async () => {
    const cell = await cellOf(5);
    await cell.runOut(await cell.take({ ttl: LONG }));
    await client.del(cell.key('cell'));
    expect(await cell.step({ op: 'look' })).toEqual([{ is: 'missing' }]);
  });

  test.each([
    1,
    LONG,
  ])('a reservation for %i ms runs out by the clock of the server, which is told with it', async (ttl) => {
    const cell = await cellOf(5);
    const clock = async (): Promise<number> => {
      const [seconds, µs] = (await client.time()).map(Number);
      return seconds! * 1_000 + Math.floor(µs! / 1_000);
    };
    // Where the part of a second counts.
    await until('a second is half over', async () => Math.abs(((await clock()) % 1_000) - 500) < 200);
    const before = await clock();
    const [reply] = await cell.step({ ...take, ttl });
    expect(reply!.now).toBeGreaterThanOrEqual(before);
    expect(reply!.now).toBeLessThanOrEqual(await clock());
    expect(reply!.until).toBe(reply!.now! + ttl);
    expect(await client.zscore(cell.key('due'), take.id)).toBe(`${reply!.until}`);
  });

  test('a reservation is over in the very ms that it was to run out, also while it has not come back', async () => {
    const cell = await cellOf(5);
    const id = await cell.take({ ttl: LONG, buyer: 'a' });
    let inTime = false;
    while (!inTime) {
      const [found] = await cell.step({ op: 'find', id, buyer: '' });
      const end = found!.now! + 4;
      // Its turn to come back is long after its end, as where many others are before it.
      await client.hset(cell.key('cell'), { free: '4', reserved: '1' });
      await client.hset(cell.key('requests'), id, `reserved 1 ${end} a`);
      await client.zadd(cell.key('due'), end + LONG, id);
      const looks = await Promise.all(Array.from({ length: 200 }, () => cell.step({ op: 'find', id, buyer: '' })));
      for (const [look] of looks) {
        expect(look!.is).toBe(look!.until! > 0 ? 'reserved' : 'expired');
        if (look!.is === 'reserved') expect(look!.now).toBeLessThan(end);
        inTime ||= look!.now === end;
      }
    }
  });

  test('what ran out comes back, and each of its buyers keeps what it bought; an audit sees that units came', async () => {
    const cell = await cellOf(20);
    await cell.take({ buyer: 'a' });
    await cell.take({ buyer: 'b', units: 3 });
    const kept = [
      await cell.take({ buyer: 'a', units: 2, ttl: LONG }),
      await cell.take({ buyer: 'a', ttl: LONG }),
      await cell.take({ buyer: 'b', units: 2, ttl: LONG }),
    ];
    const { generation } = await cell.stored();
    await cell.runOut(...kept);
    await cell.step({ op: 'find', id: 'r:', buyer: '' });
    expect(await cell.bought()).toEqual({ a: '1', b: '3' });
    expect(await cell.stored()).toMatchObject({
      ...{ free: '16', reserved: '0', sold: '4' },
      generation: `${Number(generation) + kept.length}`,
    });
  });

  test('what ran out comes back also where nobody said who buys, and has no end any more', async () => {
    const cell = await cellOf(5);
    const id = await cell.take({ units: 2, ttl: LONG });
    await cell.runOut(id);
    const [found] = await cell.step({ op: 'find', id, buyer: '' });
    expect(found).toMatchObject({ is: 'expired', units: 2, until: 0 });
    expect(await cell.stored()).toMatchObject({ free: '5', reserved: '0' });
    expect(await cell.bought()).toEqual({});
  });

  test('a step gives back a hundred and fifty that ran out and leaves the rest to the next, so that none takes long', async () => {
    const cell = await cellOf(300);
    const takes = Array.from({ length: 200 }, (_, i) => ({ ...take, id: `r:${i}`, ttl: LONG }));
    await cell.step(...takes);
    await cell.runOut(...takes.map(({ id }) => id));
    for (const free of ['250', '300']) {
      await cell.step({ op: 'find', id: 'r:none', buyer: '' });
      expect(await cell.stored()).toMatchObject({ free });
    }
  });

  test('what is paid has no end any more, and nothing is kept of who cancels all that it has', async () => {
    const cell = await cellOf(5);
    const [paid, cancelled] = [
      await cell.take({ buyer: 'a', ttl: LONG }),
      await cell.take({ buyer: 'b', ttl: LONG, units: 2 }),
    ];
    const [sold] = await cell.step({ op: 'settle', id: paid, to: 'sold', token: '' });
    expect(sold).toMatchObject({ is: 'done', until: 0 });
    await cell.step({ op: 'settle', id: cancelled, to: 'cancelled', token: '' });
    expect(await cell.requests()).toMatchObject({ [paid]: 'sold 1 0 a', [cancelled]: 'cancelled 2 0 b' });
    expect(await cell.bought()).toEqual({ a: '1' });
  });

  test('who names no buyer has bought nothing, and comes to no limit by what others bought', async () => {
    const cell = await cellOf(5);
    for (const token of ['1', '2']) await cell.take({ token, limit: 2, units: 2 });
    const [found] = await cell.step({ op: 'find', id: 'r:none', buyer: '' });
    expect(found).toEqual({ is: 'unknown', bought: 0 });
  });

  test('one move at a time is under way to another cell: the next is told which, and takes nothing', async () => {
    const cell = await cellOf(9);
    const sent = { seq: 1, units: 3 };
    expect(await cell.step({ op: 'send', to: 1, units: 3 })).toEqual([{ is: 'done', ...sent }]);
    expect(await cell.step({ op: 'send', to: 1, units: 2 })).toEqual([{ is: 'busy', ...sent }]);
    const [look] = await cell.step({ op: 'look' });
    expect(look!.cell).toMatchObject({ free: 6, out: 3, seq: 1, moves: { 1: sent } });
    await cell.step({ op: 'clear', to: 1, seq: 1 });
    expect(await cell.step({ op: 'send', to: 1, units: 2 })).toEqual([{ is: 'done', seq: 2, units: 2 }]);
  });

  test('a move that arrives again counts once', async () => {
    const cell = await cellOf(1);
    const { generation } = await cell.stored();
    for (let i = 0; i < 2; i++) await cell.step({ op: 'receive', from: 2, seq: 1, units: 5 });
    const [look] = await cell.step({ op: 'look' });
    expect(look!.cell).toMatchObject({ free: 6, in: 5, seen: { 2: 1 }, generation: Number(generation) + 1 });
  });

  test('each portion of the requests tells how many it has and how many there are, and a whole tally needs neither', async () => {
    const cell = await cellOf(2_000);
    const [whole] = await cell.step({ op: 'tally' });
    expect(Object.keys(whole!).sort()).toEqual(['cell', 'is', 'reserved', 'sold']);
    await cell.step(...Array.from({ length: 1_200 }, (_, i) => ({ ...take, id: `r:${i}` })));
    const portions: number[] = [];
    for (let from: string | undefined; ; ) {
      const [reply] = await cell.step({ op: 'tally', ...(from === undefined ? {} : { from }) });
      expect(reply).toMatchObject({ requests: 1_201, counted: expect.any(Number) });
      portions.push(reply!.counted!);
      from = reply!.next;
      if (from === undefined) break;
    }
    expect(portions.length).toBeGreaterThan(1);
    expect(portions.reduce((sum, counted) => sum + counted)).toBeGreaterThanOrEqual(1_201);
  });

  test.each([
    'hdel',
    'zrem',
  ])('who may not %s changes nothing, however often it tries: a buyer has what it had', async (right) => {
    const cell = await cellOf(9);
    await cell.take({ buyer: 'a', units: 3 });
    await cell.runOut(await cell.take({ buyer: 'a', ttl: LONG }));
    const before = [await cell.stored(), await cell.requests(), await cell.bought()];
    const weak = await storeWithout(right);
    for (let i = 0; i < 2; i++)
      await expect(weak.step(cell.name, 0, [{ op: 'look' }])).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect([await cell.stored(), await cell.requests(), await cell.bought()]).toEqual(before);
    await cell.step({ op: 'look' });
    expect(await cell.bought()).toEqual({ a: '3' });
  });

  test.each([
    ['hgetall', 'look'],
    ['hgetall', 'tally'],
    ['hscan', 'tally'],
    ['hlen', 'tally'],
  ] as const)('who may not %s is refused a %s before anything comes back that ran out', async (right, op) => {
    const cell = await cellOf(9);
    await cell.runOut(await cell.take({ buyer: 'a', ttl: LONG }));
    const before = [await cell.stored(), await cell.requests(), await cell.bought()];
    const weak = await storeWithout(right);
    await expect(weak.step(cell.name, 0, [{ op }])).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect([await cell.stored(), await cell.requests(), await cell.bought()]).toEqual(before);
  });
});
