import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import { urlOfFile } from '../../src/connect/url.ts';
import type { Locks } from '../../src/index.ts';
import { startEtcd } from '../kit/etcd.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import { startRedis, startRedisNodes } from '../kit/redis.ts';
import { ALL_SITES } from '../kit/sites.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { startZookeeper } from '../kit/zookeeper.ts';
import type { BlockedCalls } from './blocked-loop.worker.ts';
import { ADDRESSES, clientsOf, type Opened } from './engines.ts';

/** Long enough for a busy machine: a thread that renews at 0.4 of it must run in the rest. ms. */
const TTL = 1_000;
const LIMIT = 30_000;
const WORKER = { renewal: 'worker' };

const start = async (url: string, defaults: object): Promise<WorkerProcess<BlockedCalls>> => {
  const worker = await startWorker<BlockedCalls>(new URL('blocked-loop.worker.ts', import.meta.url), {
    env: { URL: url },
  });
  await worker.call('open', defaults);
  return worker;
};

async function isTaken(others: Locks, key: string): Promise<boolean> {
  const lease = await others.mutex(key).tryAcquire();
  await lease?.release();
  return lease === null;
}

/** Whether another process got the key at any time before `done`. */
async function stolen(others: Locks, key: string, done: Promise<unknown>): Promise<boolean> {
  let over = false;
  const ended = done.finally(() => {
    over = true;
  });
  let got = false;
  while (!over && !got) {
    got = !(await isTaken(others, key));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await ended;
  return got;
}

function blockedLoops(open: () => Promise<Opened>, leases: number): void {
  let server: Opened;
  let others: Locks;
  beforeAll(async () => {
    server = await open();
    others = await connect(server.url);
  });
  afterAll(async () => {
    await others?.close();
    await server?.[Symbol.asyncDispose]();
  });

  test(`a worker keeps a hold through a blocked loop of ${leases} leases, and the key is free after its release`, {
    timeout: LIMIT,
  }, async () => {
    await using holder = await start(server.url, WORKER);
    // Not while both are new: a grant takes longer then.
    await holder.call('hold', 'first', {});
    const blocked = holder.call('holdBlocked', 'kept', { ttl: TTL }, leases * TTL);
    await until('the key is taken', () => isTaken(others, 'kept'));
    expect(await stolen(others, 'kept', blocked), 'somebody else had the key').toBe(false);
    expect(await blocked, 'held, remaining, aborted as the loop goes on').toEqual([true, true, false]);
    expect(await holder.call('held', 'kept')).toEqual([true]);
    expect(await holder.call('release', 'kept')).toBe(true);
    const lease = await others.mutex('kept').tryAcquire();
    expect(lease?.held).toBe(true);
    await lease?.release();
    await holder.call('close');
  });
}

for (const { name, engine, start: open } of ADDRESSES.filter(({ engine }) => !['etcd', 'zookeeper'].includes(engine)))
  describeOn(engine, `a blocked loop on ${name}`, () => blockedLoops(open, name === 'redis' ? 10 : 3));

for (const { engine, start: open } of [ALL_SITES.s3, ALL_SITES.dynamodb])
  describeOn(engine, `a blocked loop on ${engine}`, () => blockedLoops(open, 3));

describe('a blocked loop on file', () =>
  blockedLoops(async () => {
    const folder = temporaryFolder();
    return {
      url: urlOfFile(join(folder.path, 'locks.db')),
      [Symbol.asyncDispose]: async () => folder[Symbol.dispose](),
    };
  }, 3));

describeOn('redis', 'a worker that renews', () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  let others: Locks;
  beforeAll(async () => {
    server = await startRedis();
    others = await connect(server.url);
  });
  afterAll(async () => {
    await others?.close();
    await server?.[Symbol.asyncDispose]();
  });

  test('without it, the same blocked loop loses the hold', { timeout: LIMIT }, async () => {
    await using holder = await start(server.url, {});
    const blocked = holder.call('holdBlocked', 'lost', { ttl: TTL }, 4 * TTL);
    await until('the key is taken', () => isTaken(others, 'lost'));
    expect(await stolen(others, 'lost', blocked)).toBe(true);
    expect((await blocked)[0]).toBe(false);
  });

  test('a loop that hangs for longer than the stall loses its hold, and its signal fires as the loop goes on', {
    timeout: LIMIT,
  }, async () => {
    await using holder = await start(server.url, { ...WORKER, stall: '1s' });
    const began = performance.now();
    const blocked = holder.call('holdBlocked', 'hung', { ttl: TTL }, 5_000);
    await until('the key is taken', () => isTaken(others, 'hung'));
    const next = await others.mutex('hung').acquire({ wait: '4s' });
    expect(performance.now() - began, 'ms until the next one had it').toBeGreaterThan(1_000);
    expect((await blocked)[0]).toBe(false);
    expect(await holder.call('lost', 'hung')).toBe('LOCK_LOST');
    expect(next.held).toBe(true);
    await next.release();
  });

  test('maxHold ends a hold while the loop is blocked', { timeout: LIMIT }, async () => {
    await using holder = await start(server.url, WORKER);
    const blocked = holder.call('holdBlocked', 'limited', { ttl: TTL, maxHold: 1_500 }, 6_000);
    await until('the key is taken', () => isTaken(others, 'limited'));
    const began = performance.now();
    const next = await others.mutex('limited').acquire({ wait: '6s' });
    expect(performance.now() - began, 'ms until the next one had it').toBeLessThan(5_000);
    expect((await blocked)[0]).toBe(false);
    await next.release();
  });

  test('a hold with a long notice is not told as lost after a blocked loop', async () => {
    await using holder = await start(server.url, WORKER);
    const options = { ttl: 1.5 * TTL, notice: TTL };
    const blocked = await holder.call('holdBlocked', 'noticed', options, 4 * TTL);
    expect(blocked).toEqual([true, true, false]);
    await new Promise((resolve) => setTimeout(resolve, TTL));
    expect(await holder.call('held', 'noticed')).toEqual([true]);
    expect(await holder.call('release', 'noticed')).toBe(true);
  });

  test('a hold that was extended keeps its longer lease, and one that was released stays released', async () => {
    await using holder = await start(server.url, WORKER);
    await holder.call('hold', 'extended', { ttl: TTL });
    await holder.call('hold', 'gone', { ttl: TTL });
    await holder.call('extend', 'extended', 20 * TTL);
    await holder.call('release', 'gone');
    await holder.call('block', 3 * TTL);
    expect(await holder.call('held', 'extended', 'gone')).toEqual([true, false]);
    const lease = await others.mutex('gone').tryAcquire();
    expect(lease?.held).toBe(true);
    await lease?.release();
    expect(await others.mutex('extended').tryAcquire()).toBeNull();
  });

  test('a hold without renewal expires as ever', async () => {
    await using holder = await start(server.url, WORKER);
    const blocked = await holder.call('holdBlocked', 'once', { ttl: TTL, renew: false }, 3 * TTL);
    expect(blocked[0]).toBe(false);
  });

  test('ten thousand holds stand through a blocked loop', { timeout: 60_000 }, async () => {
    await using holder = await start(server.url, WORKER);
    expect(await holder.call('crowd', 10_000, 5_000, 9_000)).toBe(10_000);
  });

  test('its connection ends with close(), and the process with it', async () => {
    const before = await clientsOf(server.port);
    const locks = await connect(server.url, { renewal: 'worker' });
    expect(await clientsOf(server.port)).toBeGreaterThan(before + 1);
    await locks.close();
    await until('its connections are gone', async () => (await clientsOf(server.port)) === before);
  });

  test('a worker that cannot reach the engine any more leaves renewal to the loop, and goes on when it can', async () => {
    await using holder = await start(server.url, WORKER);
    await holder.call('hold', 'cut', { ttl: 5 * TTL });
    await server.restart();
    await until('it is renewed again', () => holder.call('held', 'cut').then(([held]) => held === true));
  });

  test.each([
    [{ renewal: 'thread' }, /renewal is "thread"; it must be 'worker'/],
    [{ stall: '1m' }, /it is for renewal: 'worker'/],
    [{ renewal: 'worker', stall: 10 }, /stall is 10; it must be from 1 s to 1 day/],
    [{ renewal: 'worker', clock: {} }, /goes by the clock of the machine/],
  ])('%j is refused', async (options, message) => {
    await expect(connect(server.url, options as object)).rejects.toMatchObject({
      code: 'LOCK_INVALID',
      message: expect.stringMatching(message),
    });
  });
});

const UNSUPPORTED = [
  ['memory:', 'memory', async () => ({ url: 'memory:', [Symbol.asyncDispose]: async () => {} })],
  ['zookeeper:', 'zookeeper', startZookeeper],
  ['etcd:', 'etcd', startEtcd],
  ['redlock+redis:', 'redis', () => startRedisNodes(3)],
] as const;
describe.each(UNSUPPORTED)('%s', (_name, engine, open) => {
  describeOn(engine, 'where only one connection can renew a hold', () => {
    test("renewal: 'worker' is refused, and says why", async () => {
      await using server = await open();
      await expect(connect(server.url, { renewal: 'worker' })).rejects.toMatchObject({
        code: 'LOCK_UNSUPPORTED',
        message: expect.stringMatching(/only the connection that took a hold there can renew it/),
      });
    });
  });
});
