import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStock, redisStock } from '../../products/stock/index.ts';
import { redis } from '../../src/backends/redis/index.ts';
import { createLocks } from '../../src/index.ts';
import { askRedis, startRedisNodes } from '../kit/redis.ts';
import type { Servers } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { ioredisAt } from './stores.ts';

/** As the guide gives them. */
const RIGHTS =
  'eval evalsha time get hmget hget hset hsetnx hincrby hdel hgetall hscan hlen zadd zrem zrange zrangebyscore'.split(
    ' ',
  );

const REQUESTS = 100_000;
/** Sales, as a step leaves them. */
const SEED = `for i = ARGV[1], ARGV[2] do redis.call('HSET', KEYS[1], 'r:' .. i, 'sold 1 0 buyer') end`;

describeOn('redis', 'stock on Redis alone', () => {
  const stack = new AsyncDisposableStack();
  let nodes: Servers;
  beforeAll(async () => {
    nodes = stack.use(await startRedisNodes(2));
  });
  afterAll(() => stack.disposeAsync());

  test('a removal that broke off can be done again, and nothing of the product comes back with its name', async () => {
    const [first, second] = nodes.servers.map(({ port }) => ioredisAt(port, stack));
    const stock = createStock(redisStock([first!, second!]));
    const product = await stock.create('phone', { units: 20, segments: 4, reserve: 0 });
    await product.take({ buyer: 'a', request: 'r' });
    second!.disconnect();
    await expect(stock.remove('phone')).rejects.toThrow();
    await second!.connect();
    await expect(stock.create('phone', { units: 4 }), 'what is left of it is in the way').rejects.toMatchObject({
      code: 'STOCK_EXISTS',
    });
    await stock.remove('phone');
    const again = await stock.create('phone', { units: 4, segments: 4, reserve: 0 });
    expect(await again.levels()).toEqual({ reserve: 0, segments: [1, 1, 1, 1], reserved: 0, sold: 0 });
    expect(await again.take({ buyer: 'a', request: 'r' })).toMatchObject({ repeated: false });
  });

  test.each([
    ['from the start', false],
    ['once the product is open', true],
  ])('a right that is missing %s refuses a step whole: the books stay right, whichever it is', async (when, opened) => {
    const { port } = nodes.servers[0]!;
    const client = ioredisAt(port, stack);
    const all = createStock(redisStock(client));
    const granted = RIGHTS.map((name) => `+${name}`).join(' ');
    // Without eval it sells by the scripts that others made known.
    for (const missing of ['nothing', ...RIGHTS.filter((name) => name !== 'eval')]) {
      const taken = missing === 'nothing' ? '' : `-${missing}`;
      const name = `without-${missing}-${opened}`;
      await askRedis(port, `ACL SETUSER seller reset on >pw ~holdfast:stock:* ${granted} ${opened ? '' : taken}`);
      const product = await all.create(name, { units: 20, segments: 1, limit: 5 });
      const refused: unknown[] = [];
      const told = (error: unknown): undefined => void refused.push(error);
      const stock = createStock(redisStock(ioredisAt(port, stack, { username: 'seller', password: 'pw' })));
      const selling = await stock.open(name).catch(told);
      await product.reserve({ buyer: 'x', ttl: 1 });
      await sleep(5);
      if (opened && taken) await askRedis(port, `ACL SETUSER seller ${taken}`);
      await selling?.levels().catch(told); // gives back what has run out
      const reserved = await selling?.reserve({ buyer: 'a', ttl: 60_000 }).catch(told);
      await selling?.take({ buyer: 'b' }).catch(told);
      await selling?.reserve({ buyer: 'c', ttl: 1 }).catch(told);
      if (reserved) await selling?.cancel(reserved.ref).catch(told);
      await sleep(5);
      await selling?.take({ buyer: 'd' }).catch(told);
      await selling?.audit().catch(told);
      expect(await product.audit(), `without ${missing} ${when}`).toMatchObject({ put: 20, right: true });
      expect(refused.length > 0, `told without ${missing} ${when}`).toBe(missing !== 'nothing');
      const keys = await client.keys(`holdfast:stock:{${name}@*`);
      expect(keys).not.toEqual([]);
      for (const key of keys)
        if ((await client.type(key)) === 'hash')
          expect(await client.hexists(key, ''), `what was tried without ${missing} is in ${key}`).toBe(0);
    }
  });

  test('100,000 requests are audited and removed without a script or command that takes long', async () => {
    const { port } = nodes.servers[0]!;
    const client = ioredisAt(port, stack);
    const stock = createStock(redisStock(client));
    const product = await stock.create('huge', { units: REQUESTS, segments: 1, reserve: 0 });
    const ref = (await product.take({ buyer: 'x' })).ref;
    const [requests] = await client.keys('holdfast:stock:{huge@*/0}:requests');
    for (let i = 1; i < REQUESTS; i += 10_000)
      await client.eval(SEED, 1, requests!, i, Math.min(REQUESTS - 1, i + 9_999));
    await client.hset(requests!.replace(/requests$/, 'cell'), { free: 0, sold: REQUESTS });
    await client.config('RESETSTAT');
    expect(await product.audit()).toMatchObject({ right: true, sold: REQUESTS });
    const stats = await client.info('commandstats');
    expect(Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)![1]), 'portions').toBeGreaterThanOrEqual(REQUESTS / 1_000);
    expect(stats, 'what reads all at once').not.toMatch(/cmdstat_h(vals|keys)/);
    await stock.remove('huge');
    expect(await client.info('commandstats'), 'what frees all at once').not.toMatch(/cmdstat_del:/);
    expect(await client.exists(requests!)).toBe(0);
    await expect(product.confirm(ref)).rejects.toMatchObject({ code: 'STOCK_UNKNOWN' });
  });

  test('an option that there is not is refused, not ignored', () => {
    const client = ioredisAt(nodes.servers[0]!.port, stack);
    expect(() => redisStock(client, { Prefix: 'shop' } as object)).toThrow(/redisStock has no option "Prefix"/);
  });

  test('a client that gives numbers as text will do', async () => {
    const client = ioredisAt(nodes.servers[0]!.port, stack, { stringNumbers: true });
    const product = await createStock(redisStock(client)).create('texts', { units: 3, segments: 1 });
    await product.resize(2);
    await product.reserve({ buyer: 'a', units: 2 });
    expect(await product.audit()).toMatchObject({ right: true, put: 3, reserved: 2 });
  });

  test('what ran out is over, also when more ran out with it than one step gives back', async () => {
    const store = redisStock(ioredisAt(nodes.servers[0]!.port, stack));
    const kind = { op: 'take', epoch: 1, buyer: 'a', units: 1, limit: 0, already: 0, token: '' } as const;
    const takes = Array.from({ length: 250 }, (_, i) => ({ ...kind, id: `r:${i}`, ttl: i < 200 ? 1 : 20 }));
    const put = { op: 'put', epoch: 1, id: 'p:', units: 2_000 } as const;
    await store.step('many', 0, [{ op: 'open', epoch: 1 }, put, ...takes]);
    await sleep(100);
    const [settled] = await store.step('many', 0, [{ op: 'settle', id: 'r:249', to: 'sold', token: '' }]);
    expect(settled!.is, 'a hundred and fifty came back before it').toBe('expired');
    const [tally] = await store.step('many', 0, [{ op: 'tally' }]);
    expect(tally).toMatchObject({ reserved: 0, sold: 0, cell: { free: 2_000, reserved: 0, sold: 0 } });
    const [found] = await store.step('many', 0, [{ op: 'find', id: 'r:0', buyer: 'a' }]);
    expect(found, 'and its buyer has none').toMatchObject({ is: 'expired', bought: 0 });
  });

  test('a server that says nothing is not waited for longer than asked, and what it did then is not done twice', async () => {
    const [server] = nodes.servers;
    const stock = createStock(redisStock(ioredisAt(server!.port, stack)), { timeout: 300 });
    const product = await stock.create('mute', { units: 3, segments: 1, reserve: 0 });
    const order = { buyer: 'a', request: 'r' };
    server!.pause();
    try {
      for (const call of [() => product.take(order), () => product.levels(), () => stock.remove('mute')]) {
        const sent = performance.now();
        await expect(call()).rejects.toThrow(/"mute"; it may have been done/);
        expect(performance.now() - sent).toBeLessThan(5_000);
      }
      await expect(stock.open('mute')).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE', backend: 'redis' });
    } finally {
      server!.resume();
    }
    expect(await product.take(order)).toMatchObject({ repeated: true });
    expect(await product.levels()).toMatchObject({ segments: [2], sold: 1 });
  });

  test('the rebalancer outlives connections that break', async () => {
    const { port } = nodes.servers[0]!;
    const client = ioredisAt(port, stack, { maxRetriesPerRequest: 0, enableOfflineQueue: false });
    await once(client, 'ready');
    await using locks = createLocks(redis(client));
    const product = await createStock(redisStock(client), { locks }).create('broken', {
      units: 400,
      segments: 4,
      reserve: 1,
    });
    const stop = new AbortController();
    const job = product.rebalance({ low: 10, batch: 10, every: 10, signal: stop.signal });
    let over: unknown;
    job.then(
      () => (over ??= 'ended'),
      (error) => (over ??= error),
    );
    const filled = async (): Promise<boolean> => {
      expect(over).toBeUndefined();
      const { segments } = await product.levels().catch(() => ({ segments: [0] })); // this client's connection broke, too
      return segments.every((free) => free >= 10);
    };
    for (let i = 0; i < 3; i++) {
      await until('the segments are filled', filled);
      await product.take({ units: 20, buyer: 'a' });
      await askRedis(port, 'CLIENT KILL TYPE normal SKIPME yes');
    }
    await until('the segments are filled', filled);
    stop.abort();
    await job;
    expect(await product.audit()).toMatchObject({ right: true, sold: 60 });
  });
});
