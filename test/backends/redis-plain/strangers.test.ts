import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PlainRedisOptions } from '../../../src/backends/redis-plain/index.ts';
import { listOf } from '../../../src/core/index.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { type Fleet, LIBRARIES } from '../redis/fleet.ts';
import { plainOver, startPlainServer } from './fleet.ts';

/** What another program writes. */
const THEIRS = 'b7c4f8f0-3f1f-4b4e-9f58-7d9f9a1f2b3c';
const CODE = (code: string) => expect.objectContaining({ code });

describeOn('redis-plain', 'plain redis beside other programs', () => {
  let scene: Awaited<ReturnType<typeof startPlainServer>>;
  let fleet: Fleet;
  let redis: ReturnType<Fleet['ioredis']>;
  let keys = 0;
  const newKey = (): string => `stranger-${keys++}`;
  const locksOver = async (library = LIBRARIES[0]!, options?: PlainRedisOptions): Promise<Locks> =>
    createLocks(await plainOver(fleet, library, options));

  beforeAll(async () => {
    scene = await startPlainServer();
    ({ fleet, redis } = scene);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  describe.each(LIBRARIES)('over %s', (library) => {
    test('the key is the name as it is, with a text that begins with holdfast and a ttl, and gone after the release', async () => {
      await using locks = await locksOver(library);
      const key = `{${newKey()}}:ünï*?[`;
      const lease = await locks.mutex(key, { ttl: 5_000 }).acquire();
      expect(await redis.get(key)).toMatch(/^holdfast \d{16} \S{20,} /);
      expect(await redis.pttl(key)).toBeGreaterThan(3_000);
      expect(await redis.set(key, THEIRS, 'PX', 1_000, 'NX'), 'what others do').toBeNull();
      await lease.release();
      expect(await redis.exists(key)).toBe(0);
    });

    test('a value of another program is neither deleted nor renewed nor given a ttl, whatever we try', async () => {
      await using locks = await locksOver(library);
      const key = newKey();
      await redis.set(key, THEIRS);
      expect(await locks.mutex(key).tryAcquire()).toBeNull();
      await expect(locks.mutex(key).acquire({ wait: 300 })).rejects.toThrow(CODE('LOCK_TIMEOUT'));
      expect(await redis.get(key)).toBe(THEIRS);
      expect(await redis.pttl(key), 'no end known').toBe(-1);
    });

    test('a hold that another program took over is lost at its next renewal, and its release frees nothing', async () => {
      await using locks = await locksOver(library);
      const key = newKey();
      const lease = await locks.mutex(key, { ttl: 900 }).acquire();
      await redis.set(key, THEIRS, 'PX', 60_000);
      await until('the holder hears of it', () => lease.signal.aborted, 2_000);
      expect(lease.signal.reason).toEqual(CODE('LOCK_LOST'));
      expect(await lease.release()).toBe(false);
      expect(await redis.get(key)).toBe(THEIRS);
      expect(await redis.pttl(key)).toBeGreaterThan(50_000);
    });

    test.each([
      ['with a ttl', 700, 2_500],
      ['without a ttl, deleted', 0, 2_500],
    ])('a waiter gets in when the key of another program ends: %s', async (_title, ttl, within) => {
      await using locks = await locksOver(library);
      const key = newKey();
      await (ttl > 0 ? redis.set(key, THEIRS, 'PX', ttl) : redis.set(key, THEIRS));
      const began = performance.now();
      const waiting = locks.mutex(key).acquire({ wait: 5_000 });
      if (ttl === 0) {
        await sleep(700);
        await redis.del(key);
      }
      await (await waiting).release();
      const took = performance.now() - began;
      expect(took).toBeGreaterThan(650);
      expect(took).toBeLessThan(within);
    });

    test('a value of another type is a hold, and is left as it is', async () => {
      await using locks = await locksOver(library);
      const key = newKey();
      await redis.hset(key, `${THEIRS}:1`, '1');
      expect(await locks.mutex(key).tryAcquire()).toBeNull();
      const [holder] = await listOf(locks.inspect(key));
      expect(holder).toMatchObject({ key, label: 'another program, which keeps a hash here' });
      expect(await locks.forceRelease(key, { reason: 'test' }), 'a lock of another kind').toBe(0);
      expect(await redis.hgetall(key)).toEqual({ [`${THEIRS}:1`]: '1' });
    });

    test('a foreign holder is listed with what is known, never with its text; a forced release deletes it', async () => {
      await using locks = await locksOver(library);
      const list = `list-${library}:`;
      const [theirs, endless, ours] = [`${list}${newKey()}`, `${list}${newKey()}`, `${list}${newKey()}`] as const;
      await redis.set(theirs, THEIRS, 'PX', 30_000);
      await redis.set(endless, THEIRS);
      await using lease = await locks.mutex(ours, { label: 'me' }).acquire();
      const found = new Map((await listOf(locks.inspect(list))).map((each) => [each.key, each]));
      expect([...found.keys()].sort()).toEqual([theirs, endless, ours].sort());
      expect(found.get(theirs)).toMatchObject({ held: true, label: 'another program' });
      expect(found.get(theirs)!.remaining).toBeGreaterThan(20_000);
      expect(found.get(theirs)!.since).toBeUndefined();
      expect(found.get(endless)!.remaining).toBe(Number.POSITIVE_INFINITY);
      expect(found.get(ours)).toMatchObject({ label: 'me', token: lease.token });
      expect(found.get(ours)!.since).toBeLessThan(5_000);
      const shown = JSON.stringify([...found.values()], (_, value) => (typeof value === 'bigint' ? `${value}` : value));
      expect(shown).not.toContain(THEIRS);
      expect(await locks.forceRelease(theirs, { reason: 'its program is gone' })).toBe(1);
      expect(await redis.exists(theirs)).toBe(0);
      const all = (await listOf(locks.inspect())).map(({ key }) => key);
      expect(all, 'a whole database has other things, too').toEqual([ours]);
    });
  });

  test('with key, the Redis key is what that says, and a listing tells the names', async () => {
    await using locks = await locksOver('ioredis', { key: (name) => `mutex:${name}` });
    await using lease = await locks.mutex('order').acquire();
    expect(await redis.get('mutex:order')).toContain(`${lease.token}`);
    await redis.set('mutex:theirs', THEIRS, 'PX', 5_000);
    expect((await listOf(locks.inspect())).map(({ key }) => key).sort()).toEqual(['order', 'theirs']);
  });

  test('key may decide by the name, and a prefix lists the locks whose keys it gives another form', async () => {
    const key = (name: string) => (name.startsWith('job:') ? `job-lock:prod:${name.slice(4)}` : `mutex:${name}`);
    await using locks = await locksOver('ioredis', { key });
    await using job = await locks.mutex('job:report').acquire();
    await using order = await locks.mutex('order:42').acquire();
    expect(await redis.get('job-lock:prod:report')).toContain(`${job.token}`);
    expect(await redis.get('mutex:order:42')).toContain(`${order.token}`);
    await redis.set('mutex:job:report', 'another lock, which has no name here', 'PX', 5_000);
    const namesOf = async (start?: string) => (await listOf(locks.inspect(start))).map((each) => each.key);
    expect(await namesOf('job:')).toEqual(['job:report']);
    expect(await namesOf('order:')).toEqual(['order:42']);
    expect(await namesOf()).toContain('order:42');
    expect(await namesOf()).not.toContain('job:report');
    await redis.del('mutex:job:report');
  });

  test('a key that does not tell its name can be asked for, and not listed', async () => {
    await using locks = await locksOver('ioredis', { key: (name) => Buffer.from(name).toString('hex') });
    await using lease = await locks.mutex('order').acquire();
    await expect(listOf(locks.inspect())).rejects.toThrow(CODE('LOCK_UNSUPPORTED'));
    expect(await locks.forceRelease('order', { reason: 'test' })).toBe(1);
    expect(await lease.release()).toBe(false);
  });

  test('with registry, the key is that of a RedisLockRegistry, and both of its channels hear of a release and of a force', async () => {
    await using locks = await locksOver('node-redis', { registry: 'orders' });
    const listener = fleet.ioredis();
    const heard: string[] = [];
    listener.on('message', (channel, message) => heard.push(`${channel} ${message}`));
    listener.on('pmessage', (_pattern, channel, message) => heard.push(`${channel} ${message}`));
    await listener.subscribe('orders-channel');
    await listener.psubscribe('orders-channel:*');
    const lease = await locks.mutex('a/b').acquire();
    expect(await redis.exists('orders:a/b')).toBe(1);
    const both = ['orders-channel orders:a/b', 'orders-channel:orders:a/b orders:a/b'];
    await lease.release();
    await until('both are heard', () => heard.length === 2);
    expect(heard.splice(0)).toEqual(both);
    await redis.set('orders:a/b', THEIRS, 'PX', 60_000);
    expect(await locks.forceRelease('a/b', { reason: 'test' })).toBe(1);
    await until('both are heard', () => heard.length === 2);
    expect(heard).toEqual(both);
  });

  test('what the layout cannot carry is refused when the object is made', async () => {
    await using locks = await locksOver();
    const unsupported = CODE('LOCK_UNSUPPORTED');
    expect(() => locks.rwLock('k')).toThrow(unsupported);
    expect(() => locks.semaphore('k', { permits: 2 })).toThrow(unsupported);
    expect(() => locks.memo('k')).toThrow(unsupported);
    expect(() => locks.mutex('k', { delay: '1s' })).toThrow(unsupported);
    expect(() => locks.mutex('k', { detect: true })).toThrow(unsupported);
  });

  test.each<[string, PlainRedisOptions]>([
    ['a key that is no function', { key: 'mutex:' as never }],
    ['a key that gives no text', { key: () => '' }],
    ['an empty registry', { registry: '' }],
    ['both', { registry: 'orders', key: (name) => name }],
    ['an unknown option', { prefix: 'a' } as never],
  ])('%s is LOCK_INVALID', async (_title, options) => {
    await expect(locksOver('ioredis', options)).rejects.toThrow(CODE('LOCK_INVALID'));
  });

  test('tokens grow over the holds of two processes, whatever holds between them', async () => {
    await using a = await locksOver('ioredis');
    await using b = await locksOver('node-redis');
    const key = newKey();
    let last = 0n;
    for (let i = 0; i < 40; i++) {
      await using lease = await (i % 2 ? a : b).mutex(key).acquire();
      expect(lease.token).toBeGreaterThan(last);
      last = lease.token;
      await lease.release();
      await redis.set(key, THEIRS, 'PX', 1);
    }
  });
});
