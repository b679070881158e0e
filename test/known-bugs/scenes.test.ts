import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/locks.ts';
import { heard } from '../core/heard.ts';

test('a release that overtakes a renewal is no loss', async () => {
  using events = heard('lost');
  const clock = manualClock();
  const backend = memory({ clock });
  const renewing = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const slow = around(backend, {
    renew: async (claims) => {
      renewing.resolve();
      await answer.promise;
      return backend.renew(claims);
    },
  });
  await using locks = createLocks(slow, { clock, ttl: 400 });
  const lease = await locks.mutex('key').acquire();
  const { signal } = lease;
  await clock.advance(200);
  await renewing.promise;
  const released = lease.release();
  answer.resolve();
  await released;
  await clock.advance(450);
  expect(signal.aborted).toBe(false);
  expect(events.names).toEqual([]);
});

test('who asks for a permit with a shorter lease drops nobody', async () => {
  const clock = manualClock();
  const backend = memory({ clock });
  await using locks = createLocks(backend, { clock });
  const lease = await locks.semaphore('key', { permits: 1 }).acquire({ ttl: 10_000, renew: false });
  // Other `Locks`, which ask the engine themselves.
  await using others = createLocks(backend, { clock });
  for (const wait of [0, 200]) {
    await clock.advance(500);
    const asked = others.semaphore('key', { permits: 1 }).acquire({ ttl: 100, wait });
    const refused = expect(asked).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    await clock.advance(500);
    await refused;
  }
  expect([lease.held, lease.signal.aborted]).toEqual([true, false]);
});

test('a signal that is aborted while the work runs does not keep the lock from being given back', async () => {
  await using locks = createLocks(memory());
  const caller = new AbortController();
  await locks.mutex('key').run(async () => caller.abort(), { signal: caller.signal });
  const next = await locks.mutex('key').tryAcquire();
  expect(next?.held).toBe(true);
});

test('an engine that fails leaves no lock taken inside the process', async () => {
  const backend = memory();
  let fails = true;
  const failing = around(backend, {
    attempt: async (claim) => {
      if (fails) throw new Error('the engine is away');
      return backend.attempt(claim);
    },
  });
  await using locks = createLocks(failing);
  await expect(locks.mutex('key').acquire({ wait: 50 })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  fails = false;
  expect((await locks.mutex('key').acquire({ wait: 50 })).held).toBe(true);
});
