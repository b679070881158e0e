import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { type Demand, EXCLUSIVE, SHARED } from '../../src/core/contract/admission.ts';
import type { Backend, QueueEntry } from '../../src/core/contract/backend.ts';
import { createLocks, type Lock, type LockEvent, type Locks } from '../../src/index.ts';
import { queuesOf } from '../../src/waits/claims.ts';
import { deadlocksIn, describeDeadlock } from '../../src/waits/deadlocks.ts';
import { edgesAmong } from '../../src/waits/edges.ts';
import { settleWithin, until } from '../kit/wait.ts';

const claim = (
  number: number,
  key: string,
  position: number,
  held: boolean,
  demand: Demand,
  inside: readonly number[] = [],
): QueueEntry => ({
  ...{ key, held, position, token: BigInt(number), ...demand, label: `task ${number}`, remaining: 9 },
  origin: {
    process: 'process0',
    claim: number,
    inside: inside.map((claim) => ({ claim })),
    cut: false,
    detects: number,
  },
});

const B = 3_000_000;

/** Readers hold `a`, and each waits inside for `b`, whose holder waits for `a` at the end of a queue of writers and readers in turn. */
function crossing(readers: number, waiters: number): QueueEntry[] {
  const entries = [claim(B, 'b', 0, true, EXCLUSIVE)];
  for (let i = 0; i < readers; i++) entries.push(claim(i, 'a', i, true, SHARED));
  for (let i = 0; i < waiters; i++) {
    const inside = i === waiters - 1 ? [B] : [];
    entries.push(claim(1_000_000 + i, 'a', readers + i, false, i % 2 ? SHARED : EXCLUSIVE, inside));
  }
  for (let i = 0; i < readers; i++) entries.push(claim(2_000_000 + i, 'b', i + 1, false, EXCLUSIVE, [i]));
  return entries;
}

test.each([
  [900, 400],
  [30_000, 70_000],
])('a deadlock through %i holders and %i waiters of one key is found, with no more edges than claims', (readers, waiters) => {
  const entries = crossing(readers, waiters);
  const began = performance.now();
  const queues = queuesOf(entries);
  const [found, ...more] = deadlocksIn(queues);
  expect(more).toEqual([]);
  expect(found!.claims).toHaveLength(entries.length);
  const edges = edgesAmong(queues, new Set(queues.claims.keys()));
  const inside = readers + 1;
  expect(edges.length).toBeLessThanOrEqual(entries.length + inside);
  expect(describeDeadlock(found!, queues).length, 'the way round in words').toBeLessThan(500);
  expect(performance.now() - began, 'ms').toBeLessThan(15_000);
});

test('5,000 deadlocks of two are found one by one, each in a look at its own claims', () => {
  const entries = Array.from({ length: 5_000 }, (_, i) => {
    const [one, other] = [4 * i, 4 * i + 1];
    return [
      claim(one, `a${i}`, 0, true, EXCLUSIVE),
      claim(4 * i + 2, `a${i}`, 1, false, EXCLUSIVE, [other]),
      claim(other, `b${i}`, 0, true, EXCLUSIVE),
      claim(4 * i + 3, `b${i}`, 1, false, EXCLUSIVE, [one]),
    ];
  }).flat();
  const began = performance.now();
  expect(deadlocksIn(queuesOf(entries))).toHaveLength(5_000);
  expect(performance.now() - began, 'ms').toBeLessThan(8_000);
});

test('one of a ring gives up in time among 700 readers and 500 that wait in turn, all with detect', async () => {
  await using crowd = new AsyncDisposableStack();
  const engine = memory();
  // Of each process one stands in the queue for all that exclude each other, so each waiter has `Locks` of its own.
  const all = Array.from({ length: 502 }, () => crowd.use(createLocks(engine, { detect: true, wait: '30s' })));
  const [one, two, ...others] = all as [Locks, Locks, ...Locks[]];
  const go = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let ready = 0;
  const inside = (lock: Pick<Lock, 'run'>, then: () => Promise<unknown>) =>
    lock.run(async () => {
      ready++;
      await go.promise;
      await then();
    });
  const readers = Array.from({ length: 699 }, () => inside(one.rwLock('a').read, () => over.promise));
  const ring = [
    inside(one.rwLock('a').read, () => one.mutex('b').run(() => {})),
    inside(two.mutex('b'), () => two.rwLock('a').write.run(() => {})),
  ];
  await until('all have their first', () => ready === 701);
  const waiters = others.map((locks, i) => locks.rwLock('a')[i % 2 ? 'read' : 'write'].run(() => {}));
  const began = performance.now();
  go.resolve();
  await settleWithin(
    'one gives up',
    Promise.any(
      ring.map((end) =>
        end.then(
          () => Promise.reject(),
          ({ code }) => code,
        ),
      ),
    ),
  );
  expect(performance.now() - began, 'ms until it gave up').toBeLessThan(4_000);
  over.resolve();
  const ends = await settleWithin('all end', Promise.allSettled([...ring, ...readers, ...waiters]), 20_000);
  expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1);
});

test('a deadlock is found in time beside 140 other waits of its process, on an engine that takes a while to list', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const slow = around(engine, {
    async *inspect(prefix, listing) {
      await new Promise<void>((resolve) => clock.after(20, resolve));
      yield* engine.inspect!(prefix, listing);
    },
  });
  const options = { clock, wait: 'forever' } as const;
  const [locks, others] = [createLocks(slow, { ...options, detect: true }), createLocks(engine, options)];
  const endless = new Promise<never>(() => {});
  for (let i = 0; i < 140; i++) {
    void others.mutex(`busy${i}`).run(() => endless);
    void locks.mutex(`own${i}`).run(() => locks.mutex(`busy${i}`).run(() => {}));
  }
  await clock.advance(3_000);
  const cross = (by: Locks, first: string, second: string) =>
    by.mutex(first).run(async () => {
      await new Promise<void>((resolve) => clock.after(10, resolve));
      await by.mutex(second).run(() => {});
    });
  let code: unknown;
  void cross(others, 'b', 'a');
  cross(locks, 'a', 'b').catch((error) => {
    code = error.code;
  });
  await clock.advance(10_000);
  expect(code, 'of the wait in the deadlock, after 10 s').toBe('LOCK_DEADLOCK');
});

test('whoever looks at 900 holders and 400 waiters of one key is told of all of them', async () => {
  await using locks = createLocks(memory(), { wait: '30s' });
  const { read, write } = locks.rwLock('a');
  const leases = await Promise.all(Array.from({ length: 900 }, () => read.acquire()));
  const waiting = Array.from({ length: 400 }, (_, i) => {
    return (i % 2 ? read : write).run(() => {});
  });
  const { claims, edges } = await locks.waits();
  expect(claims).toHaveLength(1_300);
  expect(edges.length).toBeLessThanOrEqual(1_300);
  for (const lease of leases) await lease.release();
  await Promise.all(waiting);
});

test('a look for deadlocks that fails is told as an event of each wait that it was for, and the next one finds the ring', async () => {
  const engine = memory();
  let broken = true;
  const inspect: NonNullable<Backend['inspect']> = (prefix, listing) => {
    if (broken) throw new RangeError('the engine cannot list');
    return engine.inspect!(prefix, listing);
  };
  await using locks = createLocks(around(engine, { inspect }), { detect: true, wait: '20s' });
  const failures: LockEvent[] = [];
  const hear = (event: unknown): void => {
    if ((event as LockEvent).locks === locks.number) failures.push(event as LockEvent);
  };
  subscribe('holdfast:detection-failed', hear);
  try {
    const both = Promise.withResolvers<void>();
    let inside = 0;
    const nested = (outer: string, inner: string) =>
      locks.mutex(outer).run(async () => {
        if (++inside === 2) both.resolve();
        await both.promise;
        await locks.mutex(inner).run(() => {});
      });
    const ends = Promise.allSettled([nested('a', 'b'), nested('b', 'a')]);
    await until('both are told', () => new Set(failures.map(({ key }) => key)).size === 2);
    expect(String((failures[0]!.error as Error).message)).toContain('the engine cannot list');
    broken = false;
    const refused = (await settleWithin('both end', ends)).filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(1);
  } finally {
    unsubscribe('holdfast:detection-failed', hear);
  }
});
