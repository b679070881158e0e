import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { register } from '../../src/backends/register/index.ts';
import type { Renewal } from '../../src/core/contract/backend.ts';
import { createLocks, LockError } from '../../src/index.ts';
import { memoryStore, shared } from '../kit/register-store.ts';

/** A hold that is released half a ms after its grant, or later, and has to be kept for a second. */
async function released(answer?: Renewal | Error, after = 0.5) {
  const clock = manualClock();
  const engine = memory({ clock });
  const renewals: number[] = [];
  const releases: number[] = [];
  const backend = around(engine, {
    async renew(claims) {
      renewals.push(...claims.map(({ ttl }) => ttl));
      if (answer instanceof Error) throw answer;
      return answer ? [answer] : engine.renew(claims);
    },
    release(handle) {
      releases.push(clock.now());
      return engine.release(handle);
    },
  });
  const lease = await createLocks(backend, { clock }).mutex('key').acquire({ minHold: 1_000 });
  await clock.advance(after);
  const freed = lease.release();
  await clock.advance(30_000);
  return { renewals, releases, freed: await freed, pending: clock.pending };
}

test('the rest of minHold is left to the engine, in whole ms and no less, and nothing more is asked', async () => {
  expect(await released()).toEqual({ renewals: [1_000], releases: [], freed: true, pending: 0 });
});

test('a hold that the engine no longer has was not freed by its release', async () => {
  expect(await released('gone')).toEqual({ renewals: [1_000], releases: [], freed: false, pending: 0 });
});

test.each<[string, Renewal | Error]>([
  ['is unknown', 'unknown'],
  ['fails', new Error('cut')],
])('where it %s whether the engine has heard of it, the hold is given back when minHold is over', async (_, answer) => {
  expect(await released(answer)).toEqual({ renewals: [1_000], releases: [1_000], freed: false, pending: 0 });
});

test('where the engine refuses to shorten the lease, the hold is given back when minHold is over', async () => {
  const kept = { validFor: 29_000, kept: new LockError('LOCK_UNAVAILABLE', 'no space') };
  expect(await released(kept)).toEqual({ renewals: [1_000], releases: [1_000], freed: true, pending: 0 });
});

test('the last half of a ms is kept, too', async () => {
  expect(await released(undefined, 999.5)).toEqual({ renewals: [1], releases: [], freed: true, pending: 0 });
});

test('what of it was not answered, and may still arrive, is taken back no sooner than minHold is over', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  let cut = true;
  const backend = around(engine, {
    attempt(claim) {
      if (!cut) return engine.attempt(claim);
      cut = false;
      return Promise.reject(new Error('cut')); // it may arrive for 5 s
    },
  });
  const waiting = createLocks(backend, { clock }).mutex('key').acquire({ minHold: 20_000 });
  await clock.advance(1_000);
  const lease = await waiting;
  await lease.release();
  const others = createLocks(engine, { clock }).mutex('key');
  await clock.advance(18_000);
  expect(await others.tryAcquire(), 'before it is over').toBeNull();
  await clock.advance(2_000);
  expect(await others.tryAcquire(), 'after it').not.toBeNull();
});

test('an extension that the release overtakes keeps the key for nobody: it is taken back when minHold is over', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const backend = around(engine, {
    async renew(claims) {
      // That of the extension comes 300 ms late, as over a slower connection.
      if (claims[0]!.ttl === 120_000) await new Promise<void>((resolve) => clock.after(300, resolve));
      return engine.renew(claims);
    },
  });
  const lease = await createLocks(backend, { clock }).mutex('key').acquire({ minHold: 1_000, ttl: 10_000 });
  const extended = lease.extend('2m').catch(() => {});
  await clock.advance(10);
  const freed = lease.release();
  await clock.advance(1_500);
  await Promise.all([extended, freed]);
  expect(await createLocks(engine, { clock }).mutex('key').tryAcquire(), 'it is free').not.toBeNull();
});

test('a hold that a session carries is freed after its minHold, however long that was, with its own time for an answer', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const backend = around(engine, {
    traits: { ...engine.traits, expires: false, lifetime: 'session' },
    async release(handle) {
      await new Promise<void>((resolve) => clock.after(2_000, resolve));
      return engine.release(handle);
    },
  });
  const lease = await createLocks(backend, { clock }).mutex('key').acquire({ minHold: 10_000 });
  const freed = lease.release();
  await clock.advance(12_000);
  expect(await Promise.race([freed, 'not told yet'])).toBe(true);
});

/** A process on an engine without a clock that releases a hold with minHold. `asks` is one attempt of a process that has seen nothing before. */
async function releasedUnwatched(minHold: number) {
  const clock = manualClock();
  const all = shared();
  const process = () => createLocks(register(memoryStore(all, { clock }), { clock }), { clock });
  const locks = process();
  const lease = await locks.mutex('key', { minHold }).acquire();
  const freed = lease.release();
  const asks = (): Promise<unknown> => process().mutex('key').tryAcquire();
  return { clock, locks, freed, asks };
}

test.each([
  'after',
  'before',
])('an engine without a clock frees the key when minHold is over, also for a process that sees it first, with close %s that', async (when) => {
  const { clock, locks, freed, asks } = await releasedUnwatched(1_000);
  const closed = when === 'before' ? locks.close() : undefined;
  await clock.advance(990);
  expect(await asks(), 'during minHold').toBeNull();
  await clock.advance(10_000);
  expect(await asks(), 'after it').not.toBeNull();
  expect(await freed).toBe(true);
  await (closed ?? locks.close());
});

test('a close that ends before minHold frees no key on an engine without a clock', async () => {
  const { clock, locks, freed, asks } = await releasedUnwatched(20_000);
  const closed = locks.close();
  await clock.advance(10_000);
  await closed;
  expect(await freed).toBe(true);
  expect(await asks()).toBeNull();
});
