import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { redis } from '../../../src/backends/redis/index.ts';
import { ALL_UNITS } from '../../../src/core/contract/admission.ts';
import type { Backend, QueueEntry } from '../../../src/core/contract/backend.ts';
import { createLocks } from '../../../src/index.ts';
import { startProxy } from '../../kit/proxy.ts';
import { askRedis, startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { granted, wish } from './scene.ts';

const IDLE = 50_000;
/** Keys that were used and that nobody holds, as a lock leaves them. */
const SEED = `for i = ARGV[1], ARGV[2] do
  redis.call('SET', 'holdfast:{order:' .. i .. '}', '1 free 1790000000000000 0001', 'PX', 86400000)
end`;

/** What a test holds among them, or beside them. */
const HELD = ['order:1', 'order:17', 'order:49999', 'order:4 of none'];

const SHARED = { units: 1, capacity: ALL_UNITS };

async function collected(standings: AsyncIterable<QueueEntry>): Promise<QueueEntry[]> {
  const all: QueueEntry[] = [];
  for await (const standing of standings) all.push(standing);
  return all;
}

/** How often the server has run a script. */
async function scripts(port: number): Promise<number> {
  const stats = await askRedis(port, 'INFO commandstats');
  return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

describeOn('redis', 'redis, listed at scale', () => {
  const stack = new AsyncDisposableStack();
  let server: Server;
  let client: Redis;
  let near: Backend;

  /** @param port of the server, or of a proxy before it */
  const clientAt = (port: number): Redis => {
    const client = new Redis(port, '127.0.0.1');
    client.on('error', () => {});
    stack.defer(() => client.disconnect());
    return client;
  };

  beforeAll(async () => {
    server = stack.use(await startRedis());
    client = clientAt(server.port);
    for (let i = 1; i <= IDLE; i += 5_000) await client.eval(SEED, 0, i, i + 4_999);
    near = redis(client);
    stack.defer(() => near.close());
  });
  // A test that failed in the middle may be run again.
  beforeEach(() => client.del(...[...HELD, 'line'].map((key) => `holdfast:{${key}}`)));
  afterAll(() => stack.disposeAsync());

  test('among 50,000 idle keys, over a link that takes its time, holders are found and evicted, and progress is told', async () => {
    await using proxy = await startProxy(server.port);
    const far = clientAt(proxy.port);
    await far.ping();
    proxy.delay(1);
    await using locks = createLocks(redis(far));
    for (const key of HELD) granted(await near.attempt(wish(key)));
    const told: number[] = [];
    const listed = await collected(locks.inspect('order:', { progress: (looked) => told.push(looked) }));
    expect(listed.map(({ key }) => key).sort()).toEqual([...HELD].sort());
    expect(told.length, 'signs of life').toBeGreaterThan(10);
    expect(told, 'it only grows').toEqual([...told].sort((a, b) => a - b));
    expect(told.at(-1)).toBeGreaterThanOrEqual(IDLE);

    const before = await scripts(server.port);
    expect((await collected(locks.inspect('order:1', { exact: true }))).map(({ key }) => key)).toEqual(['order:1']);
    expect(await collected(locks.inspect('order:2', { exact: true })), 'idle').toEqual([]);
    for (const key of HELD) expect(await locks.forceRelease(key, { reason: 'a test' })).toBe(1);
    expect((await scripts(server.port)) - before, 'nothing else was looked at').toBeLessThanOrEqual(2 + 2 * 2 * 4);
    for (const key of HELD) expect(await collected(locks.inspect(key, { exact: true }))).toEqual([]);
  });

  test('a long line is read and searched in portions, and is whole and in order', async () => {
    const holders = Array.from({ length: 1_300 }, () => wish('line', { ttl: 60_000 }, SHARED));
    const waiters = Array.from({ length: 1_200 }, () => wish('line', { ttl: 60_000 }));
    const tokens = (await Promise.all(holders.map((claim) => near.attempt(claim)))).map((one) => granted(one).token);
    const refused = await Promise.all(waiters.map((claim) => near.attempt(claim)));
    expect(refused.some((attempt) => attempt.granted)).toBe(false);
    await near.renew(holders.slice(0, 1_100)); // now many expiry in one moment
    const before = await scripts(server.port);
    const line = await collected(near.inspect!('line', { exact: true }));
    expect(line.map(({ position }) => position)).toEqual(Array.from({ length: 2_500 }, (_, i) => i));
    expect(line.filter(({ held }) => held).map(({ token }) => token)).toEqual(tokens.sort((a, b) => Number(a - b)));
    expect(line.slice(1_300).every(({ held }) => !held)).toBe(true);
    expect((await scripts(server.port)) - before, 'scripts for 2,500').toBeGreaterThanOrEqual(5);

    // Of those that were renewed, these are in the first portion and in the last.
    for (const gone of [line[3]!, line[240]!, line[1_299]!, line[1_300]!, line[2_499]!]) {
      expect(await near.evict!('line', gone.token), `place ${gone.position}`).toBe(true);
      expect(await near.evict!('line', gone.token)).toBe(false);
    }
    expect(await collected(near.inspect!('line', { exact: true }))).toHaveLength(2_495);
    expect((await collected(near.inspect!('li'))).length, 'by prefix').toBe(2_495);
  });
});
