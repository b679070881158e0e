import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks } from '../../src/index.ts';

test('a healthy hold is kept with the longest notice there may be', async () => {
  const clock = manualClock(1);
  await using locks = createLocks(memory({ clock }), { clock, ttl: 3_000, notice: 2_000 });
  const lease = await locks.mutex('key').acquire();
  await clock.advance(20_000);
  expect(lease.signal.aborted, 'the notice came before the renewal').toBe(false);
  expect(lease.held).toBe(true);
});

test('a renewal that the backend throws at instead of rejecting is a renewal that failed', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  let thrown = 0;
  const throwing: Backend = {
    name: engine.name,
    traits: engine.traits,
    attempt: (claim) => engine.attempt(claim),
    renew() {
      thrown++;
      throw new Error('thrown at once');
    },
    release: (handle, next) => engine.release(handle, next),
    close: () => engine.close(),
  };
  await using locks = createLocks(throwing, { clock, ttl: 3_000 });
  const lease = await locks.mutex('key').acquire();
  await clock.advance(1_500);
  expect(thrown, 'tries before half of the lease was over').toBeGreaterThan(1);
  expect(lease.held, 'the old deadline stands').toBe(true);
  await clock.advance(1_500);
  expect(lease.signal.reason, 'told of the loss').toMatchObject({ code: 'LOCK_LOST' });
});

test('maxHold ends a hold that a session would carry for ever', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const session = around(engine, {
    traits: { ...engine.traits, expires: false, lifetime: 'session', tokenBlocks: false },
    attempt: async (claim) => {
      const answer = await engine.attempt({ ...claim, ttl: 86_400_000 });
      return answer.granted ? { ...answer, validFor: Number.POSITIVE_INFINITY } : answer;
    },
    renew: async (claims) => claims.map(() => ({ validFor: Number.POSITIVE_INFINITY })),
  });
  await using locks = createLocks(session, { clock, ttl: 3_000 });
  const lease = await locks.mutex('key').acquire({ maxHold: 10_000 });
  await clock.advance(9_000);
  expect(lease.held).toBe(true);
  await clock.advance(4_000);
  expect(lease.signal.reason, 'told of the loss').toMatchObject({ code: 'LOCK_LOST' });
  expect(lease.held).toBe(false);
  const next = await locks.mutex('key').tryAcquire();
  expect(next, 'free for others').not.toBeNull();
  await next!.release();
});

test('a short lease beside a long one does not take the time that the long one has for its renewal', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const slow = around(engine, {
    async renew(claims) {
      await new Promise<void>((resume) => clock.after(400, resume));
      return engine.renew(claims);
    },
  });
  await using locks = createLocks(slow, { clock });
  const long = await locks.mutex('long').acquire({ ttl: 30_000 });
  let over = false;
  const pass = (ms: number) => new Promise<void>((resume) => clock.after(ms, resume));
  const busy = Array.from({ length: 25 }, async (_, number) => {
    await pass(number * 4); // so that at any moment one of them is due
    while (!over) {
      const short = await locks.mutex(`short ${number}`).acquire({ ttl: 300 });
      await pass(110);
      await short.release();
    }
  });
  await clock.advance(40_000);
  over = true;
  await clock.advance(1_000);
  await Promise.all(busy);
  expect(long.held).toBe(true);
  expect(long.signal.aborted).toBe(false);
});
