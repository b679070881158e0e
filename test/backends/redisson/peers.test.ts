import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RedissonOptions } from '../../../src/backends/redisson/index.ts';
import { connect } from '../../../src/connect/index.ts';
import { listOf } from '../../../src/core/index.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { JavaPeer } from '../../kit/java.ts';
import { startRedis, startRedisCluster } from '../../kit/redis.ts';
import { whyNot } from '../../kit/selection.ts';
import type { Server } from '../../kit/server.ts';
import { steppedClock } from '../../kit/stepped-clock.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { Fleet } from '../redis/fleet.ts';
import { redissonOver } from './fleet.ts';
import { jarsOfRedisson, PEER, VERSIONS } from './peer.ts';
import { isOneOrder, raceOf, startNode } from './race.ts';

/** The lease that both sides renew, ms: Redisson's watchdog timeout. */
const WATCHDOG = 1_000;
/** The one that ours is renewed over, ms: a busy machine may stand still for a third of a second. */
const RENEWED = 2_000;
const LONG = 20_000;
/** A hand-over takes a few ms, or some hundred on a busy machine. Without a message it would take the rest of this lease. */
const LEASE = 10_000;
const SOON = LEASE / 5;
/** Less than half the time after which a waiter of ours asks though nothing woke it. */
const SOON_HERE = 700;

const CODE = (code: string) => expect.objectContaining({ code });
const half = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

const able = whyNot(['redisson', 'maven'], ['redisson']) === undefined;
const jars = new Map<string, string>();
if (able) {
  for (const version of VERSIONS) {
    const found = await jarsOfRedisson(version);
    if (found) jars.set(version, found);
  }
}

describeOn(['redisson', 'maven'], 'redisson beside Redisson', () => {
  let server: Server;
  let fleet: Fleet;
  const peers = new Map<string, JavaPeer>();

  const start = (version: string, urls = server.url): Promise<JavaPeer> =>
    JavaPeer.start(PEER, jars.get(version)!, urls, `${WATCHDOG}`);

  beforeAll(async () => {
    server = await startRedis();
    fleet = new Fleet(server.port);
    for (const version of jars.keys()) peers.set(version, await start(version));
  }, 120_000);
  afterAll(async () => {
    for (const peer of peers.values()) await peer[Symbol.asyncDispose]();
    await fleet[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  describe.each([...jars.keys()])('Redisson %s', (version) => {
    let locks: Locks;
    let java: JavaPeer;
    let names = 0;
    const newName = (): string => `{${version}}:order:${names++}`;
    const locksWith = async (options?: RedissonOptions): Promise<Locks> =>
      createLocks(await redissonOver(fleet, 'node-redis', options));

    beforeAll(async () => {
      locks = createLocks(await redissonOver(fleet, 'ioredis'));
      java = peers.get(version)!;
    });
    afterAll(() => locks.close());

    test('we hold for three leases, and it is refused; it is in at once after our release', async () => {
      const took: number[] = [];
      for (let i = 0; i < 9; i++) {
        const name = newName();
        const lease = await locks.mutex(name, { ttl: i === 0 ? RENEWED : LEASE }).acquire();
        for (const end = performance.now() + 3 * RENEWED; i === 0 && performance.now() < end; await sleep(100))
          expect(await java.ask(`a take lock ${name} 0 -1`)).toBe('no');
        const waiting = java.ask(`a take lock ${name} ${LONG} -1`, LONG).then(() => performance.now());
        await sleep(80);
        const began = performance.now();
        expect(await lease.release()).toBe(true);
        took.push((await waiting) - began);
        await java.ask(`a free lock ${name}`);
      }
      console.log(`Redisson ${version} is in ${half(took).toFixed(1)} ms (p50) after our release`);
      expect(half(took)).toBeLessThan(SOON);
    });

    test('it holds for three leases, and we are refused; we are in at once after its release', async () => {
      const took: number[] = [];
      for (let i = 0; i < 9; i++) {
        const name = newName();
        expect(await java.ask(`a take lock ${name} 0 -1`)).toBe('yes');
        for (const end = performance.now() + 3 * WATCHDOG; i === 0 && performance.now() < end; await sleep(50))
          expect(await locks.mutex(name).tryAcquire()).toBeNull();
        const waiting = locks.mutex(name, { wait: LONG }).run(() => performance.now());
        await sleep(80);
        const began = performance.now();
        await java.ask(`a free lock ${name}`);
        took.push((await waiting) - began);
      }
      console.log(`we are in ${half(took).toFixed(1)} ms (p50) after the release of Redisson ${version}`);
      expect(half(took)).toBeLessThan(SOON_HERE);
    });

    test('a holder that is killed, there or here, keeps the other out until its lease is over', async () => {
      const name = newName();
      const doomed = await start(version);
      expect(await doomed.ask(`a take lock ${name} 0 -1`)).toBe('yes');
      doomed.kill();
      const lease = await locks.mutex(name).acquire({ wait: LONG });
      await lease.release();
      const ours = await startNode();
      await ours.call('hold', server.url.replace('redis:', 'redis+redisson:'), name, WATCHDOG);
      expect(await java.ask(`a take lock ${name} 0 -1`)).toBe('no');
      await ours.kill();
      expect(await java.ask(`a take lock ${name} ${LONG} -1`, LONG)).toBe('yes');
      await java.ask(`a free lock ${name}`);
    });

    test('re-entrance is each side’s own: a count of theirs keeps us out until the last, and ours is one hold', async () => {
      const name = newName();
      for (let i = 0; i < 2; i++) expect(await java.ask(`a take lock ${name} 0 -1`)).toBe('yes');
      await java.ask(`a free lock ${name}`);
      expect(await locks.mutex(name).tryAcquire()).toBeNull();
      await java.ask(`a free lock ${name}`);
      const inner = await locks.mutex(name).run(() => locks.mutex(name).run(() => fleet.ioredis().hvals(name)));
      expect(inner).toEqual(['1']);
      expect(await java.ask(`a take lock ${name} 0 -1`)).toBe('yes');
      await java.ask(`a free lock ${name}`);
    });

    test('readers of both share; a writer of each is kept out to the last reader, and in at once after it', async () => {
      const name = newName();
      const { read, write } = locks.rwLock(name, { ttl: LEASE, wait: LONG });
      const ours = await read.acquire();
      expect(await java.ask(`a take read ${name} 0 -1`)).toBe('yes');
      expect(await java.ask(`b take read ${name} 0 -1`)).toBe('yes');
      expect(await java.ask(`c take write ${name} 0 -1`)).toBe('no');
      expect(await write.tryAcquire()).toBeNull();
      await java.ask(`a free read ${name}`);
      await java.ask(`b free read ${name}`);
      expect(await fleet.ioredis().hlen(name), 'its readers have left, and ours still holds').toBe(2);
      const theirs = java.ask(`c take write ${name} ${LONG} -1`, LONG).then(() => performance.now());
      await sleep(80);
      let began = performance.now();
      expect(await ours.release()).toBe(true);
      expect((await theirs) - began).toBeLessThan(SOON);
      expect(await read.tryAcquire()).toBeNull();
      const waiting = write.acquire();
      await sleep(80);
      began = performance.now();
      await java.ask(`c free write ${name}`);
      const lease = await waiting;
      expect(performance.now() - began).toBeLessThan(SOON);
      const readers = ['a', 'b', 'c'].map((thread) => java.ask(`${thread} take read ${name} ${LONG} -1`, LONG));
      const third = read.acquire();
      await sleep(80);
      began = performance.now();
      await lease.release();
      expect(await Promise.all(readers), 'all of its readers wake').toEqual(['yes', 'yes', 'yes']);
      await (await third).release();
      expect(performance.now() - began).toBeLessThan(SOON);
      for (const thread of ['a', 'b', 'c']) await java.ask(`${thread} free read ${name}`);
      expect(await fleet.ioredis().exists(name)).toBe(0);
    });

    test('both renew reads for three leases, and a writer of neither gets in', async () => {
      const name = newName();
      const { read, write } = locks.rwLock(name, { ttl: WATCHDOG });
      const ours = await read.acquire();
      expect(await java.ask(`a take read ${name} 0 -1`)).toBe('yes');
      await sleep(3 * WATCHDOG);
      await ours.release();
      expect(await write.tryAcquire(), 'it still reads').toBeNull();
      const again = await read.acquire();
      await java.ask(`a free read ${name}`);
      expect(await java.ask(`a take write ${name} 0 -1`), 'we still read').toBe('no');
      expect(await again.release()).toBe(true);
    });

    test('a writer of theirs that goes on as a reader, which it tells nobody, lets our readers in at once', async () => {
      const took: number[] = [];
      for (let i = 0; i < 5; i++) {
        const name = newName();
        expect(await java.ask(`a take write ${name} 0 ${LEASE}`)).toBe('yes');
        expect(await java.ask(`a take read ${name} 0 ${LEASE}`)).toBe('yes');
        const { read } = locks.rwLock(name, { wait: LONG });
        const waiting = read.acquire();
        await sleep(80);
        const began = performance.now();
        await java.ask(`a free write ${name}`);
        await (await waiting).release();
        took.push(performance.now() - began);
        await java.ask(`a free read ${name}`);
      }
      expect(half(took)).toBeLessThan(SOON_HERE);
    });

    test('tokens of an RFencedLock and ours are one order', async () => {
      const name = newName();
      await using fenced = await locksWith({ fenced: true });
      for (let expected = 1; expected < 10; expected++) {
        if (expected % 2)
          expect(
            (
              await fenced
                .mutex(name)
                .acquire()
                .then((lease) => lease.release().then(() => lease))
            ).token,
          ).toBe(BigInt(expected));
        else {
          expect(await java.ask(`a take fenced ${name} 0 -1`)).toBe(`yes ${expected}`);
          await java.ask(`a free fenced ${name}`);
        }
      }
    });

    test('an RSpinLock, which tells nobody of a release, lets us in at once; so does our release the head of an RFairLock', async () => {
      const took: number[] = [];
      for (let i = 0; i < 5; i++) {
        const name = newName();
        expect(await java.ask(`a take spin ${name} 0 ${LEASE}`)).toBe('yes');
        const waiting = locks.mutex(name, { wait: LONG }).acquire();
        await sleep(80);
        const began = performance.now();
        await java.ask(`a free spin ${name}`);
        await (await waiting).release();
        took.push(performance.now() - began);
      }
      expect(half(took)).toBeLessThan(SOON_HERE);
      const name = newName();
      const lease = await locks.mutex(name, { ttl: LEASE }).acquire();
      const head = java.ask(`a take fair ${name} ${LONG} -1`, LONG);
      await sleep(200);
      const began = performance.now();
      await lease.release();
      expect(await head).toBe('yes');
      expect(performance.now() - began).toBeLessThan(SOON);
      await java.ask(`a free fair ${name}`);
    });

    describe('in the queue of an RFairLock', () => {
      const queue = (name: string): string => `redisson_lock_queue:${name}`;
      /** Waits until so many stand in the queue of a name. */
      const queued = (name: string, count: number): Promise<void> =>
        until(`${count} wait`, async () => (await fleet.ioredis().llen(queue(name))) === count);
      const fairLocks = (): Promise<Locks> => locksWith({ fair: true });

      test('theirs and ours are served in the order in which they came, each at once, and nothing is left', async () => {
        await using first = await fairLocks();
        await using second = await fairLocks();
        await using third = await fairLocks();
        for (let round = 0; round < 3; round++) {
          const name = newName();
          const holder = await third.mutex(name, { ttl: LEASE }).acquire();
          const order: string[] = [];
          const times: number[] = [];
          const enter = async (who: string): Promise<void> => {
            order.push(who);
            times.push(performance.now());
            await sleep(20);
          };
          const theirs = async (who: string): Promise<void> => {
            expect(await java.ask(`${who} take fair ${name} ${LONG} -1`, LONG)).toBe('yes');
            await enter(who);
            await java.ask(`${who} free fair ${name}`);
          };
          const ours = (locks: Locks, who: string): Promise<void> =>
            locks.mutex(name, { wait: LONG, ttl: LEASE }).run(() => enter(who));
          const all: Promise<void>[] = [];
          for (const [i, who] of ['a', 'first', 'b', 'c', 'second', 'd'].entries()) {
            all.push(who.length > 1 ? ours(who === 'first' ? first : second, who) : theirs(who));
            await queued(name, i + 1);
          }
          expect(await second.mutex(name).tryAcquire(), 'without a place').toBeNull();
          expect((await listOf(first.inspect(name))).map(({ held }) => held)).toEqual([true, ...Array(6).fill(false)]);
          times.push(performance.now());
          await holder.release();
          await Promise.all(all);
          expect(order).toEqual(['a', 'first', 'b', 'c', 'second', 'd']);
          const took = times.slice(1).map((time, i) => time - times[i]!);
          console.log(`turns in the queue of Redisson ${version}, ms: ${took.map((ms) => ms.toFixed(1)).join(', ')}`);
          expect(Math.max(...took)).toBeLessThan(SOON);
          const left = await fleet.ioredis().keys(`*${name}*`);
          expect(left.filter((key) => !key.startsWith('redisson_unlock_latch'))).toEqual([]);
        }
      });

      test('a place of ours that is given up is told to the next of theirs; a dead one costs it 6 s', async () => {
        const name = newName();
        await using locks = await fairLocks();
        expect(await java.ask(`a take fair ${name} 0 ${LEASE}`)).toBe('yes');
        const over = new AbortController();
        const leaving = locks.mutex(name, { wait: LONG, signal: over.signal }).acquire();
        leaving.catch(() => {});
        await queued(name, 1);
        const next = java.ask(`b take fair ${name} ${LONG} -1`, LONG);
        await queued(name, 2);
        over.abort();
        await expect(leaving).rejects.toEqual(CODE('LOCK_ABORTED'));
        await queued(name, 1);
        let began = performance.now();
        await java.ask(`a free fair ${name}`);
        expect(await next).toBe('yes');
        expect(performance.now() - began).toBeLessThan(SOON);
        const doomed = await startNode();
        doomed
          .call('hold', `${server.url.replace('redis:', 'redis+redisson:')}?fair=true`, name, LEASE)
          .catch(() => {});
        await queued(name, 1);
        const last = java.ask(`c take fair ${name} ${LONG} -1`, LONG);
        await queued(name, 2);
        await doomed.kill();
        began = performance.now();
        await java.ask(`b free fair ${name}`);
        expect(await last).toBe('yes');
        console.log(`a dead place of ours cost Redisson ${version} ${Math.round(performance.now() - began)} ms`);
        expect(performance.now() - began).toBeLessThan(6_000 + SOON);
        await java.ask(`c free fair ${name}`);
      });

      test('a dead place of theirs costs us what they had wanted to wait', async () => {
        const name = newName();
        await using locks = await fairLocks();
        await using other = await fairLocks();
        const holder = await other.mutex(name, { ttl: 1_000 }).acquire();
        const doomed = await start(version);
        const wait = 4_000;
        doomed.ask(`a take fair ${name} ${wait} -1`, LONG).catch(() => {});
        await queued(name, 1);
        const began = performance.now();
        const waiting = locks.mutex(name, { wait: LONG }).acquire();
        await queued(name, 2);
        doomed.kill();
        await holder.release();
        const lease = await waiting;
        const took = performance.now() - began;
        console.log(
          `a dead place of Redisson ${version} that wanted to wait ${wait} ms cost us ${Math.round(took)} ms`,
        );
        expect(took).toBeGreaterThan(wait / 2);
        expect(took).toBeLessThan(wait + 1_000 + 2 * SOON);
        await lease.release();
      });
    });

    test('their force frees our hold, which is lost at its next renewal; ours frees theirs, and their waiter is in at once', async () => {
      const name = newName();
      const lease = await locks.mutex(name, { ttl: WATCHDOG }).acquire();
      expect(await java.ask(`a force lock ${name}`)).toBe('true');
      expect(await java.ask(`a take lock ${name} 0 ${LEASE}`)).toBe('yes');
      await until('the loss is told', () => lease.signal.aborted, LEASE);
      expect(await lease.release(), 'frees nothing of another').toBe(false);
      const [id, thread] = (await java.ask('a id')).split(' ');
      const [holder, ...others] = await listOf(locks.inspect(name));
      expect(others).toEqual([]);
      expect(holder).toMatchObject({ held: true, label: `Redisson, client ${id}, thread ${thread}` });
      expect(holder!.remaining).toBeLessThanOrEqual(LEASE);
      const waiting = java.ask(`b take lock ${name} ${LONG} -1`, LONG);
      await sleep(80);
      const began = performance.now();
      expect(await locks.forceRelease(name, { reason: 'its thread hangs' })).toBe(1);
      expect(await waiting).toBe('yes');
      expect(performance.now() - began).toBeLessThan(SOON);
      await java.ask(`b free lock ${name}`);
    });

    test('a take that Redisson sent twice counts twice: its one release frees nothing, and we are in when its lease ends', async () => {
      const name = newName();
      expect(await java.ask(`a take lock ${name} 0 ${WATCHDOG}`)).toBe('yes');
      const [id, thread] = (await java.ask('a id')).split(' ');
      await fleet.ioredis().hincrby(name, `${id}:${thread}`, 1); // as the second message does
      await java.ask(`a free lock ${name}`);
      expect(await locks.mutex(name).tryAcquire()).toBeNull();
      expect((await listOf(locks.inspect(name))).map(({ label }) => label)).toEqual([
        `Redisson, client ${id}, thread ${thread}`,
      ]);
      await (await locks.mutex(name).acquire({ wait: LONG })).release();
    });

    const breaks = version === '3.52.0';
    test(`a read lock that a thread takes twice ${breaks ? 'lets a writer in beside another reader' : 'harms no other reader'}`, async () => {
      const name = newName();
      for (const thread of ['a', 'a', 'b']) expect(await java.ask(`${thread} take read ${name} 0 -1`)).toBe('yes');
      await sleep(2.5 * WATCHDOG);
      const free = (thread: string): Promise<unknown> =>
        java.ask(`${thread} free read ${name}`).catch((error) => {
          if (!breaks) throw error; // it has lost them all
        });
      for (let i = 0; i < 2; i++) await free('a');
      const writer = await locks.rwLock(name).write.tryAcquire();
      expect(writer !== null, 'a writer is in beside it').toBe(breaks);
      await writer?.release();
      await free('b');
    });

    test('a lock of another kind is refused by a sentence, and left as it is', async () => {
      const name = newName();
      const redis = fleet.ioredis();
      const unavailable = CODE('LOCK_UNAVAILABLE');
      for (const [theirs, ours, sentence] of [
        ['read', locks.mutex(name), /holds an RReadWriteLock, which rwLock\(\) takes/],
        ['write', locks.mutex(name), /holds an RReadWriteLock, which rwLock\(\) takes/],
        ['lock', locks.rwLock(name).read, /holds an RLock, which mutex\(\) takes/],
        ['lock', locks.rwLock(name).write, /holds an RLock, which mutex\(\) takes/],
      ] as const) {
        expect(await java.ask(`a take ${theirs} ${name} 0 ${LEASE}`)).toBe('yes');
        const before = await redis.hgetall(name);
        const refusal = ours.acquire({ wait: 1_000 });
        await expect(refusal).rejects.toThrow(sentence);
        await expect(refusal).rejects.toEqual(unavailable);
        expect(await redis.hgetall(name)).toEqual(before);
        await java.ask(`a free ${theirs} ${name}`);
      }
    });
  });

  test.skipIf(jars.size < 2).each(['fenced', 'fair'] as const)(
    'in a race of two Java and two Node processes nobody is inside beside another, and tokens are one order: %s',
    async (kind) => {
      const ms = 4_000;
      const { java, node, overlaps, tokens } = await raceOf([...peers.values()], 2, server.url, ms, kind);
      const sections = [...java, ...node].map((served) => served.sections);
      const longest = Math.max(...[...java, ...node].map((served) => served.longest));
      console.log(
        `sections of two Java and two Node processes for a ${kind} lock in ${ms} ms: ${sections.join(', ')}; longest wait ${longest} ms`,
      );
      expect(overlaps, 'nobody overlaps').toBe(0);
      expect(Math.min(...sections), 'everybody is served').toBeGreaterThan(0);
      expect(tokens.length).toBe(sections.reduce((a, b) => a + b));
      if (kind === 'fenced') expect(isOneOrder(tokens)).toBe(true);
    },
    120_000,
  );

  describeOn(['redisson', 'preload'], 'permits of an RPermitExpirableSemaphore', () => {
    // So `semaphore()` is refused on this engine.
    test.each([
      ...jars.keys(),
    ])('are given twice where the clock of a client of Redisson %s is a second ahead', async (version) => {
      const java = peers.get(version)!;
      using clock = await steppedClock();
      clock.step(1_000);
      await using ahead = await clock.under(() => start(version));
      const name = `permits:${version}`;
      const held = await java.ask(`a permit ${name} 3000`);
      expect(held).toMatch(/^[\da-f]{32}$/);
      const began = performance.now();
      expect(await ahead.ask(`a permit ${name} 3000`), 'the only one is taken').toBe('null');
      await sleep(2_000 - (performance.now() - began));
      expect(await java.ask(`b permit ${name} 3000`), 'it is, by the clock of its holder').toBe('null');
      await until('the other client has it, too', async () => (await ahead.ask(`a permit ${name} 3000`)) !== 'null');
      expect(performance.now() - began, 'and its lease is not over').toBeLessThan(2_900);
    }, 60_000);
  });

  describeOn(['redisson', 'preload'], 'a client of Redisson whose clock is 10 s ahead', () => {
    test('removes our place at the head of a fair queue, and we have it again before the next', async () => {
      using clock = await steppedClock();
      clock.step(10_000);
      await using ahead = await clock.under(() => start([...jars.keys()].at(-1)!));
      await using locks = createLocks(await redissonOver(fleet, 'ioredis', { fair: true }));
      const name = 'fair:ahead';
      const holder = await locks.mutex(name, { ttl: LEASE }).acquire();
      await using others = createLocks(await redissonOver(fleet, 'ioredis', { fair: true }));
      const order: string[] = [];
      const ours = others.mutex(name, { wait: LONG }).run(() => void order.push('ours'));
      const redis = fleet.ioredis();
      const queue = `redisson_lock_queue:{${name}}`;
      await until('we wait', async () => (await redis.llen(queue)) === 1);
      const [owner] = await redis.lrange(queue, 0, 0);
      const theirs = ahead.ask(`a take fair ${name} ${LONG} -1`, LONG).then(() => order.push('theirs'));
      await until('it has removed our place', async () => (await redis.lindex(queue, 0)) !== owner, LONG);
      await until('we are the head again', async () => (await redis.lindex(queue, 0)) === owner, LONG);
      await holder.release();
      await ours;
      await theirs;
      expect(order).toEqual(['ours', 'theirs']);
      await ahead.ask(`a free fair ${name}`);
    }, 60_000);
  });

  test.skipIf(!jars.has('4.7.0'))(
    'on a Cluster each is refused beside the other, and in at once after it',
    async () => {
      await using cluster = await startRedisCluster();
      const ports = cluster.servers.map(({ port }) => port);
      await using java = await start('4.7.0', ports.map((port) => `redis://127.0.0.1:${port}`).join(','));
      await using locks = await connect(cluster.url.replace('redis+cluster', 'redis+redisson+cluster'));
      for (const name of ['order', 'b', '{c}:1', 'd:{e}']) {
        const lease = await locks.mutex(name, { ttl: LEASE }).acquire();
        expect(await java.ask(`a take lock ${name} 0 -1`)).toBe('no');
        const waiting = java.ask(`a take lock ${name} ${LONG} -1`, LONG);
        await sleep(100);
        let began = performance.now();
        await lease.release();
        expect(await waiting).toBe('yes');
        expect(performance.now() - began).toBeLessThan(SOON);
        const ours = locks.mutex(name, { wait: LONG }).acquire();
        await sleep(100);
        began = performance.now();
        await java.ask(`a free lock ${name}`);
        await (await ours).release();
        expect(performance.now() - began).toBeLessThan(SOON);
      }
      await expect(locks.mutex('a{b').acquire()).rejects.toThrow(/braces move its keys apart/);
    },
    120_000,
  );
});
