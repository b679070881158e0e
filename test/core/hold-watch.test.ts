import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, Claim } from '../../src/core/contract/backend.ts';
import { createLocks, type LockOptions } from '../../src/index.ts';

interface Watched {
  readonly claim: Claim;
  readonly wake: () => void;
  readonly armed: PromiseWithResolvers<void>;
  over: boolean;
}

/** Locks on an engine that notes which holds are watched, and what is renewed. It evicts without a word. */
function setup({ asks = false, ttl = 30_000 }: { readonly asks?: boolean; readonly ttl?: number } = {}) {
  const clock = manualClock();
  const engine = memory({ clock });
  const watches: Watched[] = [];
  const renewals: { readonly at: number; readonly ttl: number }[] = [];
  const watchHold: NonNullable<Backend['watchHold']> = (claim, wake) => {
    const watched: Watched = { claim, wake, armed: Promise.withResolvers(), over: false };
    watches.push(watched);
    const watch: AsyncDisposable = {
      async [Symbol.asyncDispose]() {
        watched.over = true;
      },
    };
    if (!asks) return watch;
    return watched.armed.promise.then(() => watch);
  };
  const renew: Backend['renew'] = (claims) => {
    for (const claim of claims) renewals.push({ at: clock.now(), ttl: claim.ttl });
    return engine.renew(claims);
  };
  const locks = createLocks(around(engine, { watchHold, renew }), { clock, ttl });
  const take = (options?: LockOptions) => locks.mutex('key').acquire(options);
  const evict = async () => {
    for await (const { token } of engine.inspect!('key')) await engine.evict!('key', token);
  };
  return { clock, watches, renewals, take, evict };
}

test('a hold of less than half a second is not watched, and a longer one until its release', async () => {
  const { clock, watches, take } = setup();
  for (let n = 0; n < 10; n++) {
    const brief = await take();
    await clock.advance(100);
    await brief.release();
  }
  expect(watches).toEqual([]);
  const lease = await take();
  await clock.advance(501);
  expect(watches.map(({ over }) => over)).toEqual([false]);
  await lease.release();
  expect(watches.map(({ over }) => over)).toEqual([true]);
});

test('a wake is one renewal: a hold that is there goes on, and one that is gone is lost at once', async () => {
  const { clock, watches, renewals, take, evict } = setup();
  const lease = await take();
  await clock.advance(1_000);
  watches[0]!.wake();
  watches[0]!.wake();
  await clock.advance(1);
  expect(renewals).toEqual([{ at: 1_001, ttl: 30_000 }]);
  expect(lease.signal.aborted).toBe(false);
  await evict();
  watches[0]!.wake();
  await clock.advance(1);
  expect(lease.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
  expect(watches[0]!.over).toBe(true);
});

test('a hold that was evicted while the engine was asked to watch it is lost when that is answered', async () => {
  const { clock, watches, take, evict } = setup({ asks: true });
  const lease = await take();
  await clock.advance(600);
  await evict();
  watches[0]!.armed.resolve();
  await clock.advance(1);
  expect(lease.signal.aborted).toBe(true);
  expect(watches[0]!.over, 'the watch that came too late is disposed of').toBe(true);
});

test('where it cannot be watched, the next renewal tells', async () => {
  const { clock, watches, take, evict } = setup({ asks: true });
  const lease = await take();
  await clock.advance(600);
  watches[0]!.armed.reject(new Error('no connection'));
  await evict();
  await clock.advance(9_000);
  expect(lease.signal.aborted).toBe(false);
  await clock.advance(1_000);
  expect(lease.signal.aborted).toBe(true);
});

/** A hold that is not renewed, after a wake and the renewal that follows it. */
async function wokenUnrenewed() {
  const { clock, watches, renewals, take } = setup({ ttl: 3_000 });
  const lease = await take({ renew: false });
  await clock.advance(1_000);
  const { remaining } = lease;
  watches[0]!.wake();
  await clock.advance(1);
  return { clock, renewals, lease, remaining };
}

test('a wake makes a hold that is not renewed last no longer, on the engine neither', async () => {
  const { clock, renewals, lease, remaining } = await wokenUnrenewed();
  expect(renewals).toHaveLength(1);
  expect(renewals[0]!.ttl).toBeGreaterThanOrEqual(remaining);
  expect(renewals[0]!.ttl).toBeLessThan(2_100);
  expect(lease.remaining).toBe(remaining - 1);
  await clock.advance(remaining);
  expect(lease.held).toBe(false);
});

test('a wake ends a hold that is not renewed and is gone', async () => {
  const { clock, watches, take, evict } = setup();
  const lease = await take({ renew: false });
  await clock.advance(1_000);
  await evict();
  watches[0]!.wake();
  await clock.advance(1);
  expect(lease.signal.aborted).toBe(true);
});

test.each<[string, LockOptions]>([
  ['is not renewed', { renew: false, notice: 20_000 }],
  ['was renewed until then', { maxHold: 1_000, notice: 20_000 }],
])('a wake ends a hold that is gone, also when its holder knows of the loss already: it %s', async (_, options) => {
  const { clock, watches, take, evict } = setup();
  const lease = await take(options);
  await clock.advance(10_000);
  watches[0]!.wake();
  await clock.advance(1);
  expect([lease.signal.aborted, lease.held], 'while the engine has it').toEqual([true, true]);
  await evict();
  watches[0]!.wake();
  await clock.advance(1);
  expect(lease.held, 'when it is gone').toBe(false);
});

test('a watch is ended once, also where its hold waits for a next caller before it goes back', async () => {
  const clock = manualClock();
  let ends = 0;
  const watch: AsyncDisposable = { [Symbol.asyncDispose]: async () => void ends++ };
  const locks = createLocks(around(memory({ clock }), { watchHold: () => watch }), { clock });
  const lease = await locks.mutex('key').acquire({ awaitRelease: false, handOff: { linger: 100 } });
  await clock.advance(600);
  await lease.release();
  await clock.advance(200);
  expect(ends).toBe(1);
});

test('a watch that is there only after the release of its hold is ended at once', async () => {
  const { clock, watches, take } = setup({ asks: true });
  const lease = await take();
  await clock.advance(600);
  await lease.release();
  watches[0]!.armed.resolve();
  await clock.advance(1);
  expect(watches[0]!.over).toBe(true);
});

test('a watch is told how long ago the engine was asked for the hold', async () => {
  const clock = manualClock();
  const ages: number[] = [];
  const watchHold: NonNullable<Backend['watchHold']> = (_, __, age) => {
    ages.push(age);
    return { [Symbol.asyncDispose]: async () => {} };
  };
  const locks = createLocks(around(memory({ clock }), { watchHold }), { clock });
  await clock.advance(1_000);
  await locks.mutex('key').acquire();
  await clock.advance(1_000);
  expect(ages).toEqual([500]);
});

test.each([
  ['linger', { linger: 1_000, within: 10_000 }],
  ['hand-over', { within: 10_000 }],
] as const)('a hold that was evicted before its %s is lost once the next holder watches it, and not at its next renewal', async (how, handOff) => {
  const clock = manualClock();
  const engine = memory({ clock });
  const mutex = createLocks(engine, { clock, handOff }).mutex('key');
  const first = await mutex.acquire();
  await clock.advance(100);
  const waiting = how === 'hand-over' ? mutex.acquire() : undefined;
  if (how === 'linger') await first.release();
  expect(await createLocks(engine, { clock }).forceRelease('key', { reason: 'stuck' })).toBe(1);
  await clock.advance(100);
  await first.release();
  const second = await (waiting ?? mutex.acquire());
  expect(second.token, 'passed on without the engine').toBe(first.token + 1n);
  await clock.advance(600);
  expect(second.signal.reason, 'ms after it passed on: 600').toMatchObject({ code: 'LOCK_LOST' });
});

test('a wake during a renewal asks when that is answered, since its answer may be older', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const renewed: number[] = [];
  let wake: (() => void) | undefined;
  const backend = around(engine, {
    watchHold(_, look) {
      wake = look;
      return { [Symbol.asyncDispose]: async () => {} };
    },
    async renew(claims) {
      renewed.push(clock.now());
      await new Promise<void>((resolve) => clock.after(300, resolve));
      return engine.renew(claims);
    },
  });
  await createLocks(backend, { clock, ttl: 30_000 }).mutex('key').acquire();
  await clock.advance(10_100);
  wake!();
  await clock.advance(1_000);
  expect(renewed).toEqual([10_000, expect.any(Number)]);
  expect(renewed[1]).toBeGreaterThanOrEqual(10_300);
});

test('the rest of a lease that is not renewed is asked for in whole ms, and no less', async () => {
  const { renewals, remaining } = await wokenUnrenewed();
  const { ttl } = renewals[0]!;
  expect(Number.isInteger(ttl)).toBe(true);
  expect(ttl * 0.99 - 2, 'less a hundredth and 2 ms').toBeGreaterThanOrEqual(remaining);
});

test.each<[string, Backend['renew'] | undefined, string]>([
  ['is answered', undefined, 'extended'],
  ['fails', () => Promise.reject(new Error('cut')), 'LOCK_UNAVAILABLE'],
  ['is unknown', async () => ['unknown'], 'LOCK_UNAVAILABLE'],
])('a hold that is not renewed can be extended after a wake only if what that asked for cannot arrive any more: it %s', async (_, answer, outcome) => {
  const clock = manualClock();
  const engine = memory({ clock });
  let wake: (() => void) | undefined;
  let renewals = 0;
  const backend = around(engine, {
    watchHold(__, look) {
      wake = look;
      return { [Symbol.asyncDispose]: async () => {} };
    },
    renew: (claims) => (++renewals === 1 && answer ? answer(claims) : engine.renew(claims)),
  });
  const lease = await createLocks(backend, { clock }).mutex('key').acquire({ ttl: 3_000, renew: false });
  await clock.advance(1_000);
  wake!();
  await clock.advance(1);
  const extended = lease.extend(10_000).then(
    () => 'extended',
    ({ code }) => code as string,
  );
  expect(await extended).toBe(outcome);
});

test('two wakes for a hold that is not renewed and is gone ask the engine once', async () => {
  const { clock, watches, renewals, take, evict } = setup();
  const lease = await take({ renew: false });
  await clock.advance(1_000);
  await evict();
  watches[0]!.wake();
  watches[0]!.wake();
  await clock.advance(10);
  expect([lease.held, renewals.length]).toEqual([false, 1]);
});

test('holds that began at about the same time, within 250 ms, are watched together', async () => {
  const clock = manualClock();
  const watched: [key: string, at: number][] = [];
  const watchHold: NonNullable<Backend['watchHold']> = ({ key }) => {
    watched.push([key, clock.now()]);
    return { [Symbol.asyncDispose]: async () => {} };
  };
  const locks = createLocks(around(memory({ clock }), { watchHold }), { clock });
  await locks.mutex('a').acquire();
  await clock.advance(250);
  await locks.mutex('b').acquire();
  await clock.advance(1);
  await locks.mutex('c').acquire();
  await clock.advance(1_000);
  expect(watched).toEqual([
    ['a', 500],
    ['b', 500],
    ['c', 751],
  ]);
});

test('a wake for a hold that was given back sets no timer', async () => {
  const { clock, watches, take } = setup();
  const lease = await take();
  await clock.advance(600);
  await lease.release();
  await clock.advance(5_000);
  watches[0]!.wake();
  for (let turn = 0; turn < 5; turn++) await undefined;
  expect(clock.pending).toBe(0);
});

test('a hold that the listener of a loss releases, just when its eviction is to be watched, leaves no watch behind', async () => {
  const clock = manualClock();
  const watched: string[] = [];
  const backend = around(memory({ clock }), {
    watchHold(claim) {
      watched.push(claim.key);
      return { [Symbol.asyncDispose]: async () => void watched.splice(watched.indexOf(claim.key), 1) };
    },
  });
  const locks = createLocks(backend, { clock });
  const other = await locks.mutex('other').acquire({ renew: false, ttl: 1_000, notice: 488 }); // told of its end after 500 ms
  const lease = await locks.mutex('key').acquire();
  other.signal.addEventListener('abort', () => void lease.release());
  await clock.advance(600);
  expect(other.signal.aborted).toBe(true);
  expect(watched, 'watches that nobody ends').not.toContain('key');
});
