import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { meanwhile } from '../../products/testing/limited.ts';
import { memory } from '../../src/backends/memory.ts';
import { channels, type LockEvent } from '../../src/core/contract/events.ts';
import { systemClock } from '../../src/core/index.ts';
import type { HeldLease } from '../../src/core/queue/held-lease.ts';
import { createLocks, type Lock, LockError, type Locks } from '../../src/index.ts';
import { WaitAbort } from '../../src/primitives/multi-lock.ts';
import { until } from '../kit/wait.ts';

test('locks that are several themselves are taken part by part, in the one order of all keys', async () => {
  const backend = memory();
  const [locks, others] = [createLocks(backend), createLocks(backend)];
  const middle = await others.mutex('b').acquire();
  const waiting = meanwhile(locks.all([locks.all(['a', 'z']), 'b']).acquire());
  await until('the first key is taken', async () => {
    const probe = await others.mutex('a').tryAcquire();
    await probe?.release();
    return probe === null;
  });
  await new Promise((resolve) => setImmediate(resolve));
  const last = await others.mutex('z').tryAcquire();
  expect(last, 'who waits for b must not have z, or whoever has z and wants b next waits for ever').not.toBeNull();
  await last!.release();
  await middle.release();
  const lease = await waiting;
  expect([...lease.tokens.keys()]).toEqual(['a', 'b', 'z']);
  expect(await lease.release()).toBe(true);
});

test.each(['a', 'b'])('the loss of one of several, here %s, is the loss of all', async (lost) => {
  const clock = manualClock(1);
  const locks = createLocks(memory({ clock }), { clock });
  const lease = await locks.all(['a', 'b']).acquire();
  await locks.forceRelease(lost, { reason: 'the test' });
  await clock.advance(30_000);
  expect([lease.held, lease.signal.reason]).toEqual([false, expect.objectContaining({ code: 'LOCK_LOST', key: lost })]);
  expect(await lease.release()).toBe(false);
});

test('a key that comes twice is refused, however deep it stands, and so are no keys', () => {
  const locks = createLocks(memory());
  const invalid = (message: RegExp) =>
    expect.objectContaining({ code: 'LOCK_INVALID', message: expect.stringMatching(message) });
  expect(() => locks.all(['a', locks.all([locks.all(['b', 'a']), 'c'])])).toThrow(invalid(/"a" twice/));
  expect(() => locks.all([])).toThrow(invalid(/no keys/));
});

test('what was had of several is given back before it is told that they could not be had', async () => {
  const engine = memory();
  const slow = around(engine, {
    release: async (handle) => {
      await new Promise(setImmediate);
      return engine.release(handle);
    },
  });
  const [locks, others] = [createLocks(slow), createLocks(engine)];
  const last = await others.mutex('b').acquire();
  const isFree = async (): Promise<boolean> => {
    const probe = await others.mutex('a').tryAcquire();
    await probe?.release();
    return probe !== null;
  };
  expect(await locks.all(['a', 'b']).tryAcquire()).toBeNull();
  expect(await isFree(), 'after null').toBe(true);
  await expect(locks.all(['a', 'b']).acquire({ wait: 20 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  expect(await isFree(), 'after an error').toBe(true);
  await last.release();
});

test('one of several that expired while the machine slept is not given with the others', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  let slept = false;
  const sleepy = around(engine, {
    attempt: (claim) => {
      if (claim.key === 'b' && !slept) clock.suspend(60_000);
      slept ||= claim.key === 'b';
      return engine.attempt(claim);
    },
  });
  const acquiring = createLocks(sleepy, { clock })
    .all(['a', 'b'])
    .acquire()
    .catch((error) => error);
  await clock.advance(10_000);
  expect(await acquiring).toMatchObject({ code: 'LOCK_LOST', key: 'a' });
});

test('of several losses the first is told', () => {
  const losses: ((loss: LockError) => void)[] = [];
  using stop = new WaitAbort(undefined);
  const told = [1, 2].map((number) => new LockError('LOCK_LOST', `loss ${number}`));
  const listening = {
    hold: {
      listeners: {
        onLoss: (lost: (loss: LockError) => void) => {
          losses.push(lost);
          return () => {};
        },
      },
    },
  };
  for (const _ of told) stop.onLossOf(listening as unknown as HeldLease);
  for (const [i, lost] of losses.entries()) lost(told[i]!);
  expect([stop.loss, stop.signal.reason]).toEqual([told[0], told[0]]);
});

test.each<[string, (there: Locks) => readonly Lock[]]>([
  ['a mutex', (there) => [there.mutex('b')]],
  ['a reader', (there) => [there.rwLock('b').read]],
  ['permits', (there) => [there.semaphore('b', { permits: 2 })]],
  ['several', (there) => [there.all(['b', 'c'])]],
])('%s of other Locks is LOCK_INVALID: terms and bounds of one engine are not those of another', (_, parts) => {
  const engine = memory();
  const here = createLocks(engine);
  const invalid = expect.objectContaining({ code: 'LOCK_INVALID', message: expect.stringMatching(/"b.* other Locks/) });
  for (const there of [createLocks(memory()), createLocks(engine)])
    expect(() => here.all(['a', ...parts(there)])).toThrow(invalid);
  here.all(['a', ...parts(here)]); // throws nothing
});

test('a wait that is over is told in whole milliseconds', async () => {
  const engine = memory();
  const holder = await createLocks(engine).mutex('b').acquire();
  const waiting = createLocks(engine).all(['a', 'b']).acquire({ wait: 20 });
  await expect(waiting).rejects.toThrow(/within \d+ ms/);
  await holder.release();
});

test('with an engine that stopped answering, many keys are given up as fast as one', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const holder = await createLocks(engine, { clock }).mutex('z').acquire();
  const mute = around(engine, { release: () => new Promise<never>(() => {}) });
  const locks = createLocks(mute, { clock });
  let over = Number.NaN;
  const waiting = locks
    .all(['a', 'b', 'c', 'd', 'z'])
    .acquire({ wait: 100 })
    .catch((error) => {
      over = clock.now();
      return error;
    });
  const from = clock.now();
  await clock.advance(30_000);
  expect(await waiting).toMatchObject({ code: 'LOCK_TIMEOUT' });
  expect(over - from, 'ms: the wait, and the patience with one call').toBeLessThan(5_500);
  await holder.release();
});

test.each([
  true,
  false,
])('minHold keeps nothing of several that could not be had (holds expire: %s)', async (expires) => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const locks = createLocks(around(engine, { traits: { ...engine.traits, expires } }), { clock });
  const others = createLocks(engine, { clock });
  const last = await others.mutex('b').acquire();
  expect(await locks.all(['a', 'b'], { minHold: '1m' }).tryAcquire()).toBeNull();
  expect(await others.mutex('a').tryAcquire(), 'what nobody was given').not.toBeNull();
  await last.release();
});

test('all() of many keys looks at the clock a few times for each key, however many there are', async () => {
  let looks = 0;
  const resync = (): number => {
    looks++;
    return systemClock.resync();
  };
  const clock = { ...systemClock, resync };
  const locks = createLocks(memory(), { clock });
  const keys = Array.from({ length: 500 }, (_, i) => `key ${i}`);
  const lease = await locks.all(keys).acquire();
  expect(looks, 'looks at the clock').toBeLessThan(keys.length * 5);
  await lease.release();
});

test('all() runs its function with thousands of keys', { timeout: 60_000 }, async () => {
  const keys = Array.from({ length: 4_000 }, (_, i) => `key ${i}`);
  const locks = createLocks(memory(), { ttl: '10m' });
  expect(await locks.all(keys).run(({ tokens }) => tokens.size)).toBe(4_000);
});

test('all() never begins its function when one of its holds has ended since the last grant', async () => {
  const keys = ['a', 'b', 'c', 'd', 'e'];
  for (let turns = 0; turns < 12; turns++) {
    const session = new AbortController();
    const engine = memory();
    const backend = around(engine, {
      async attempt(claim) {
        const answer = await engine.attempt(claim);
        return claim.key === 'a' && answer.granted ? { ...answer, lost: session.signal } : answer;
      },
    });
    const ends = async (event: unknown): Promise<void> => {
      if ((event as LockEvent).key !== 'e') return;
      for (let turn = 0; turn < turns; turn++) await undefined;
      session.abort();
    };
    channels.acquired.subscribe(ends);
    let began = false;
    await createLocks(backend)
      .all(keys)
      .run((lease) => {
        began = !lease.held;
      })
      .catch(() => {});
    channels.acquired.unsubscribe(ends);
    expect(began, `it began without its hold, which ended ${turns} turns after the last grant`).toBe(false);
  }
});
