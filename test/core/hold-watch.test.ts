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

test('a wake makes a hold that is not renewed last no longer, on the engine neither', async () => {
  const { clock, watches, renewals, take } = setup({ ttl: 3_000 });
  const lease = await take({ renew: false });
  await clock.advance(1_000);
  const { remaining } = lease;
  watches[0]!.wake();
  await clock.advance(1);
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
