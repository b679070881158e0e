import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RedissonOptions, redisson } from '../../../src/backends/redisson/index.ts';
import { quorum } from '../../../src/backends/redlock/index.ts';
import { listOf } from '../../../src/core/index.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { startRedis, startRedisNodes } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { Fleet, LIBRARIES } from '../redis/fleet.ts';
import { redissonOver } from './fleet.ts';

const CODE = (code: string) => expect.objectContaining({ code });
const OWNER = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}:\d+$/;
/** As a client of Redisson calls one of its threads. */
const THEIRS = '0f2b6c1e-5d1c-4f27-9d1b-0a4bb1a1c001:42';

describeOn('redisson', 'the layout of redisson', () => {
  let server: Server;
  let fleet: Fleet;
  let redis: Redis;
  let locks: Locks;
  let names = 0;
  const newName = (): string => `order-${names++}`;
  const locksWith = async (options?: RedissonOptions): Promise<Locks> =>
    createLocks(await redissonOver(fleet, 'ioredis', options));

  beforeAll(async () => {
    server = await startRedis();
    fleet = new Fleet(server.port);
    redis = fleet.ioredis();
    locks = await locksWith();
  });
  afterAll(async () => {
    await locks.close();
    await fleet[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** Hears what is published about a name. */
  const listen = async (...channels: string[]): Promise<string[]> => {
    const heard: string[] = [];
    const listener = fleet.ioredis();
    listener.on('message', (channel, message) => heard.push(`${channel} ${message}`));
    await listener.subscribe(...channels);
    return heard;
  };

  describe.each(LIBRARIES)('over %s', (library) => {
    test('a mutex is a hash of one owner with the count 1 and a ttl; each hold has another owner, and nothing is left of it', async () => {
      await using own = createLocks(await redissonOver(fleet, library));
      const name = newName();
      const heard = await listen(`redisson_lock__channel:{${name}}`);
      const owners = new Set<string>();
      for (let i = 0; i < 3; i++) {
        const lease = await own.mutex(name, { ttl: 5_000, handOff: false }).acquire();
        const [[owner, count] = [], ...others] = Object.entries(await redis.hgetall(name));
        expect(owner).toMatch(OWNER);
        expect([count, others]).toEqual(['1', []]);
        expect(await redis.pttl(name)).toBeGreaterThan(3_000);
        owners.add(owner!);
        for (const key of await redis.keys(`*${name}*`)) expect(await redis.pttl(key), key).toBeGreaterThan(0);
        await lease.release();
        expect(await redis.keys(`*${name}*`)).toEqual([]);
      }
      expect(owners.size).toBe(3);
      await until('each release is heard', () => heard.length === 3);
      expect(new Set(heard)).toEqual(new Set([`redisson_lock__channel:{${name}} 0`]));
    });

    test('a waiter gets in when a hold without an end is deleted, and when one ends that nobody renews', async () => {
      await using own = createLocks(await redissonOver(fleet, library));
      const name = newName();
      await redis.hset(name, THEIRS, 2);
      const waiting = own.mutex(name).acquire({ wait: 20_000 });
      await sleep(700);
      expect(await redis.pttl(name), 'it was left without an end').toBe(-1);
      await redis.del(name);
      await (await waiting).release();
      await redis.hset(name, THEIRS, 1);
      await redis.pexpire(name, 500);
      const began = performance.now();
      await (await own.mutex(name).acquire({ wait: 20_000 })).release();
      expect(performance.now() - began).toBeGreaterThan(400);
    });
  });

  test('a read has a field and a key of its own ttl; a writer that leaves says 1, the last reader 0', async () => {
    const name = newName();
    const channel = `redisson_rwlock:{${name}}`;
    const heard = await listen(channel);
    const { read, write } = locks.rwLock(name, { ttl: 5_000 });
    const writer = await write.acquire();
    expect(Object.values(await redis.hgetall(name)).sort()).toEqual(['1', 'write']);
    await writer.release();
    const [first, second] = [await read.acquire(), await read.acquire({ ttl: 2_000 })];
    const { mode, ...fields } = await redis.hgetall(name);
    expect([mode, Object.values(fields)]).toEqual(['read', ['1', '1']]);
    const left = Object.keys(fields).map((owner) => redis.pttl(`{${name}}:${owner}:rwlock_timeout:1`));
    const [shorter, longer] = (await Promise.all(left)).sort((a, b) => a - b);
    expect(shorter).toBeGreaterThan(0);
    expect(longer).toBeGreaterThan(2_000);
    await first.release();
    expect(await redis.pttl(name), 'the longest of those that are left').toBeLessThanOrEqual(2_000);
    await second.release();
    expect(await redis.keys(`*${name}*`)).toEqual([]);
    await until('both are heard', () => heard.length === 2);
    expect(heard).toEqual([`${channel} 1`, `${channel} 0`]);
  });

  test('a reader of theirs is neither changed nor cut off when ours comes, renews and leaves', async () => {
    const name = newName();
    const timeouts = [1, 2].map((n) => `{${name}}:${THEIRS}:rwlock_timeout:${n}`);
    await redis.hset(name, 'mode', 'read', THEIRS, 2);
    await redis.pexpire(name, 4_000);
    await redis.set(timeouts[0]!, 1, 'PX', 4_000);
    await redis.set(timeouts[1]!, 1, 'PX', 30_000);
    const lease = await locks.rwLock(name, { ttl: 300 }).read.acquire();
    await sleep(400);
    expect(await redis.pttl(timeouts[0]!)).toBeLessThan(4_000);
    await lease.release();
    expect(await redis.hgetall(name)).toEqual({ mode: 'read', [THEIRS]: '2' });
    expect(await redis.pttl(name), 'its longest lease').toBeGreaterThan(20_000);
    const [reader] = await listOf(locks.inspect(name));
    expect(reader).toMatchObject({ units: 1, label: expect.stringContaining('thread 42') });
    expect(await locks.forceRelease(name, { reason: 'test' })).toBe(1);
    expect(await redis.keys(`*${name}*`)).toEqual([]);
  });

  test.each<[string, (name: string) => Promise<unknown>, RegExp]>([
    ['a string', (name) => redis.set(name, 'theirs'), /holds a string, as an RSemaphore/],
    ['another hash', (name) => redis.hset(name, { a: 1, b: 2 }), /holds a hash that is no lock of Redisson/],
    ['a list', (name) => redis.rpush(name, 'a'), /holds a list that is no lock of Redisson/],
  ])('%s at the name is refused by a sentence, and left as it is', async (_title, put, sentence) => {
    const name = newName();
    await put(name);
    const before = await redis.dump(name);
    for (const lock of [locks.mutex(name), locks.rwLock(name).read, locks.rwLock(name).write]) {
      await expect(lock.tryAcquire()).rejects.toThrow(sentence);
      await expect(lock.tryAcquire()).rejects.toThrow(CODE('LOCK_UNAVAILABLE'));
    }
    expect(await locks.forceRelease(name, { reason: 'test' })).toBe(0);
    expect(await redis.dump(name)).toBe(before);
  });

  test('a listing has the locks of all programs, and no other hash of the database', async () => {
    const start = `list:${newName()}`;
    await redis.hset(`${start}:theirs`, THEIRS, 1);
    await redis.hset(`${start}:user`, 'name', '1');
    await redis.hset(`${start}:item`, 'item:42', '1');
    await using ours = await locks.mutex(`${start}:ours`, { label: 'me' }).acquire();
    await using _read = await locks.rwLock(`${start}:read`).read.acquire();
    const all = await listOf(locks.inspect(start));
    const found = new Map(all.map((entry) => [entry.key.slice(start.length + 1), entry]));
    expect([...found.keys()].sort()).toEqual(['ours', 'read', 'theirs']);
    expect(found.get('theirs')).toMatchObject({ label: expect.stringMatching(/^Redisson, client 0f2b.*, thread 42$/) });
    expect(found.get('theirs')!.remaining).toBe(Number.POSITIVE_INFINITY);
    expect(found.get('ours')).toMatchObject({ label: 'me', token: ours.token, held: true, position: 0 });
    const entire = (await listOf(locks.inspect())).map(({ key }) => key);
    expect(entire).toEqual(expect.arrayContaining([...found.values()].map(({ key }) => key)));
    expect(entire.filter((key) => key.startsWith('holdfast:'))).toEqual([]);
  });

  test('with key, the name for Redisson is what that says', async () => {
    await using own = await locksWith({ key: (name) => `app:{orders}:${name}`, fenced: true });
    await using lease = await own.mutex('7').acquire();
    expect(lease.token).toBe(1n);
    expect(await redis.hlen('app:{orders}:7')).toBe(1);
    expect(await redis.get('redisson_lock_token:app:{orders}:7')).toBe('1');
    expect((await listOf(own.inspect())).map(({ key }) => key)).toEqual(['7']);
  });

  test('a user with the rights of the page takes, waits, renews, lists and frees locks of both kinds', async () => {
    const page = readFileSync(new URL('../../../docs/backends/redisson.md', import.meta.url), 'utf8');
    const [, ...rights] = /ACL SETUSER locks on ([^`]*)/.exec(page)![1]!.trim().split(/\s+/);
    await redis.call('ACL', 'SETUSER', 'locks', 'on', '>word', ...rights);
    await using stack = new AsyncDisposableStack();
    const of = stack.use(new Fleet(server.port, { username: 'locks', password: 'word' }));
    await using own = createLocks(await redissonOver(of, 'ioredis', { fenced: true }));
    const { read, write } = own.rwLock('order:rights-rw', { ttl: 400, wait: 10_000 });
    for (const lock of [own.mutex('order:rights', { ttl: 400, wait: 10_000 }), write, read]) {
      const lease = await lock.acquire();
      const waiting = lock === read ? write.acquire() : lock.acquire();
      await sleep(800);
      expect(lease.held, 'it is renewed').toBe(true);
      await lease.release();
      await (await waiting).release();
    }
    const lease = await read.acquire();
    expect((await listOf(own.inspect('order:rights'))).map(({ key }) => key)).toEqual(['order:rights-rw']);
    expect(await own.forceRelease('order:rights-rw', { reason: 'test' })).toBe(1);
    await lease.release();
  });

  test('what the layout cannot carry is refused when the object is made', async () => {
    const unsupported = CODE('LOCK_UNSUPPORTED');
    expect(() => locks.semaphore('k', { permits: 2 })).toThrow(unsupported);
    expect(() => locks.semaphore('k', { permits: 2 })).toThrow(/without leases, or by clocks of clients/);
    expect(() => locks.memo('k')).toThrow(unsupported);
    expect(() => locks.mutex('k', { delay: '1s' })).toThrow(unsupported);
    expect(() => locks.mutex('k', { detect: true })).toThrow(unsupported);
    await using fair = await locksWith({ fair: true });
    expect(() => fair.rwLock('k')).toThrow(unsupported);
  });

  test('a quorum of such engines gives no lock: their tokens cannot be raised', async () => {
    await using three = await startRedisNodes(3);
    await using stack = new AsyncDisposableStack();
    const nodes = three.servers.map(({ port }) => redisson(stack.use(new Fleet(port)).ioredis()));
    await using many = createLocks(quorum(nodes));
    await expect(many.mutex('k').acquire({ wait: 500 })).rejects.toThrow(/cannot be a node of a quorum/);
  });

  test.each<[string, RedissonOptions]>([
    ['a key that is no function', { key: 'orders:' as never }],
    ['fenced that is a word', { fenced: 'yes' as never }],
    ['fair with fenced', { fair: true, fenced: true }],
    ['an unknown option', { prefix: 'a' } as never],
  ])('%s is LOCK_INVALID', async (_title, options) => {
    await expect(locksWith(options)).rejects.toThrow(CODE('LOCK_INVALID'));
  });

  test('a client that puts a prefix before keys is LOCK_INVALID: side keys would not be those of Redisson', () => {
    const client = fleet.ioredis({ keyPrefix: 'app:' });
    expect(() => redisson(client)).toThrow(/needs a client without a prefix of keys/);
  });
});
