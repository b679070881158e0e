import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainRedis } from '../../../src/backends/redis-plain/index.ts';
import { listOf } from '../../../src/core/index.ts';
import { createLocks } from '../../../src/index.ts';
import { Monitor } from '../../kit/monitor.ts';
import { startRedis, startRedisCluster } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { clusterFleet } from '../redis/clients.ts';
import { Fleet, LIBRARIES } from '../redis/fleet.ts';
import { half, plainOver, soon, startPlainServer } from './fleet.ts';

const THEIRS = 'another program';

/** The connections that hear of changes, as the server knows them. */
async function trackers(redis: ReturnType<Fleet['ioredis']>): Promise<string[]> {
  const list = String(await redis.client('LIST'));
  const lines = list.split('\n');
  const ids = lines
    .filter((line) => !/ redir=(-1|0) /.test(line))
    .flatMap((line) => / redir=(\d+)/.exec(line)?.[1] ?? []);
  return ids.filter((id) => lines.some((line) => line.startsWith(`id=${id} `)));
}

describeOn('redis-plain', 'waiters of plain redis', () => {
  let scene: Awaited<ReturnType<typeof startPlainServer>>;
  let server: Server;
  let fleet: Fleet;
  let redis: ReturnType<Fleet['ioredis']>;

  beforeAll(async () => {
    scene = await startPlainServer();
    ({ server, fleet, redis } = scene);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  describe.each(LIBRARIES)('over %s', (library) => {
    test('a release that nobody publishes is heard in a few ms', async () => {
      await using locks = createLocks(await plainOver(fleet, library));
      const key = `released-${library}`;
      const took: number[] = [];
      for (let i = 0; i < 40; i++) {
        await redis.set(key, THEIRS, 'PX', 60_000);
        const waiting = locks
          .mutex(key)
          .acquire({ wait: 20_000 })
          .then((lease) => ({ lease, at: performance.now() }));
        await sleep(30);
        const began = performance.now();
        await redis.del(key);
        const { lease, at } = await waiting;
        took.push(at - began);
        await lease.release();
      }
      console.log(`${library}: from DEL to the hold, of ${took.length}: p50 ${half(took).toFixed(1)} ms`);
      expect(half(took)).toBeLessThan(await soon(redis));
    });

    test('while a holder renews, a waiter sleeps: a renewal costs a PTTL, and no attempt', async () => {
      await using locks = createLocks(await plainOver(fleet, library));
      const key = `renewed-${library}`;
      await redis.set(key, THEIRS, 'PX', 60_000);
      const before = (await trackers(redis)).length;
      const waiting = locks.mutex(key).acquire({ wait: 20_000 });
      await until('it listens', async () => (await trackers(redis)).length > before);
      await sleep(300); // ioredis cannot begin to monitor while others send
      using monitor = await Monitor.start(server.port);
      const began = performance.now();
      const asked: string[] = [];
      const count = (name: string): number => asked.filter((each) => each === name).length;
      for (let i = 0; i < 5; i++) {
        await redis.pexpire(key, 60_000);
        await until('the waiter looks', async () => {
          asked.push(...(await monitor.commands()).map(([name]) => name!.toUpperCase()));
          return count('PTTL') > i;
        });
      }
      expect(count('PTTL'), 'one for each renewal').toBe(5);
      const net = 1 + Math.ceil((performance.now() - began) / 1_900);
      expect(count('EVALSHA'), 'the safety net').toBeLessThanOrEqual(net);
      await redis.del(key);
      await (await waiting).release();
    });

    test('many callers of a process ask once', async () => {
      await using locks = createLocks(await plainOver(fleet, library));
      const key = `many-${library}`;
      await redis.set(key, THEIRS, 'PX', 60_000);
      let done = 0;
      const all = Array.from({ length: 50 }, () => locks.mutex(key).run(() => done++, { wait: 20_000 }));
      await sleep(500);
      using monitor = await Monitor.start(server.port);
      await sleep(1_000);
      const asked = await monitor.commands();
      expect(asked.filter(([name]) => /^(EVALSHA|PTTL)$/i.test(name!)).length).toBeLessThanOrEqual(2);
      await redis.del(key);
      await Promise.all(all);
      expect(done).toBe(50);
    });

    test('a holder that comes with a shorter ttl is looked at when that ends', async () => {
      await using locks = createLocks(await plainOver(fleet, library));
      const key = `shorter-${library}`;
      await redis.set(key, THEIRS, 'PX', 60_000);
      const waiting = locks.mutex(key).acquire({ wait: 20_000 });
      await sleep(300);
      const began = performance.now();
      await redis.set(key, 'the next program', 'PX', 400);
      await (await waiting).release();
      expect(performance.now() - began).toBeLessThan(1_200);
    });

    test('a connection that is lost is opened again; in the meantime the waiter polls', async () => {
      await using locks = createLocks(await plainOver(fleet, library));
      const key = `lost-${library}`;
      const before = new Set(await trackers(redis));
      await redis.set(key, THEIRS, 'PX', 60_000);
      const waiting = locks.mutex(key).acquire({ wait: 60_000 });
      const own = async (): Promise<string[]> => (await trackers(redis)).filter((id) => !before.has(id));
      await until('it listens', async () => (await own()).length === 1);
      const [first] = await own();
      await redis.client('KILL', 'ID', first!);
      await until('it listens again', async () => (await own()).some((id) => id !== first), 5_000);
      await sleep(300);
      const began = performance.now();
      await redis.del(key);
      await (await waiting).release();
      expect(performance.now() - began).toBeLessThan(500);
    });

    test('over a restart of the server', async () => {
      await using other = await startRedis();
      await using there = new Fleet(other.port);
      await using locks = createLocks(await plainOver(there, library));
      const asker = there.ioredis();
      const hold = await locks.mutex('kept', { ttl: 1_500 }).acquire();
      await asker.set('key', THEIRS, 'PX', 60_000);
      const waiting = locks.mutex('key').acquire({ wait: 30_000 });
      await sleep(300);
      await other.restart(); // it has forgotten everything
      await (await waiting).release();
      await until('the forgotten hold is lost', () => hold.signal.aborted, 10_000);
      await asker.set('key', THEIRS, 'PX', 60_000);
      const again = locks.mutex('key').acquire({ wait: 30_000 });
      await until('it listens again', async () => (await trackers(asker)).length > 0);
      await sleep(300);
      const began = performance.now();
      await asker.del('key');
      await (await again).release();
      expect(performance.now() - began).toBeLessThan(500);
    });

    test('a user without the right to track polls, and check() says so', async () => {
      await redis.call('ACL', 'SETUSER', 'modest', 'on', '>secret', '~*', '&*', '+@all', '-client');
      await using modest = new Fleet(server.port, { username: 'modest', password: 'secret' });
      const backend = await plainOver(modest, library);
      await using locks = createLocks(backend);
      const key = `polled-${library}`;
      await redis.set(key, THEIRS, 'PX', 60_000);
      const waiting = locks.mutex(key).acquire({ wait: 20_000 });
      await sleep(500);
      const began = performance.now();
      await redis.del(key);
      await (await waiting).release();
      expect(performance.now() - began).toBeLessThan(500);
      expect((await backend.check!()).map(({ code }) => code)).toContain('polling');
    });
  });

  test.each(LIBRARIES)('the rights on the page are enough over %s', async (library) => {
    const page = readFileSync(new URL('../../../docs/backends/redis-plain.md', import.meta.url), 'utf8');
    const [, rights] = /ACL SETUSER locks on >password ([^`]+)/.exec(page)!;
    await redis.call('ACL', 'SETUSER', 'locks', 'on', '>password', ...rights!.trim().split(/\s+/));
    await using few = new Fleet(server.port, { username: 'locks', password: 'password' });
    await using locks = createLocks(await plainOver(few, library, { key: (name) => `mutex:${name}` }));
    await redis.set(`mutex:${library}`, THEIRS, 'PX', 60_000);
    const waiting = locks.mutex(library, { ttl: 600 }).acquire({ wait: 20_000 });
    await sleep(300);
    const before = await trackers(redis);
    expect(before.length, 'it listens').toBeGreaterThan(0);
    await redis.del(`mutex:${library}`);
    const lease = await waiting;
    await sleep(800);
    expect(lease.held, 'it was renewed').toBe(true);
    expect((await listOf(locks.inspect())).map(({ key }) => key)).toEqual([library]);
    expect(await locks.forceRelease(library, { reason: 'test' })).toBe(1);
  });

  test('check() finds no polling where changes are told', async () => {
    const backend = plainRedis(await fleet.client('ioredis'));
    expect((await backend.check!()).map(({ code }) => code)).not.toContain('polling');
    expect(await redis.keys('check:*')).toEqual([]);
    await backend.close();
  });

  test('a client with a keyPrefix hears of its keys', async () => {
    const client = fleet.ioredis({ keyPrefix: 'app:' });
    await using locks = createLocks(plainRedis(client));
    await redis.set('app:key', THEIRS, 'PX', 60_000);
    const waiting = locks.mutex('key').acquire({ wait: 20_000 });
    await sleep(300);
    const began = performance.now();
    await redis.del('app:key');
    await using lease = await waiting;
    expect(performance.now() - began).toBeLessThan(500);
    expect(await redis.get('app:key')).toContain(`${lease.token}`);
    expect((await listOf(locks.inspect('k'))).map(({ key }) => key)).toEqual(['key']);
  });
});

describeOn('redis-plain', 'plain redis on a Cluster', () => {
  test.each(LIBRARIES)('takes, hears of releases at every node, renews and lists over %s', async (library) => {
    await using cluster = await startRedisCluster();
    await using fleet = clusterFleet(cluster.servers);
    await using locks = createLocks(await plainOver(fleet, library));
    await using others = createLocks(await plainOver(fleet, library));
    const names = Array.from({ length: 12 }, (_, i) => `key-${i}`);
    const leases = await Promise.all(names.map((name) => others.mutex(name, { ttl: 1_500 }).acquire()));
    const waiting = names.map(async (name) => {
      const lease = await locks.mutex(name).acquire({ wait: 20_000 });
      return { lease, at: performance.now() };
    });
    await sleep(2_500);
    expect(
      leases.every(({ held }) => held),
      'all were renewed',
    ).toBe(true);
    const listed = await listOf(locks.inspect('key-'));
    expect(listed.map(({ key }) => key).sort()).toEqual([...names].sort());
    const began = performance.now();
    await Promise.all(leases.map((lease) => lease.release()));
    const took = (await Promise.all(waiting)).map(({ at }) => at - began);
    expect(half(took)).toBeLessThan(400);
    for (const { lease } of await Promise.all(waiting)) await lease.release();
  });
});
