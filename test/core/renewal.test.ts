import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/backend.ts';
import { createLocks } from '../../src/index.ts';
import { around } from '../../src/testing/around.ts';
import { manualClock } from '../../src/testing/index.ts';

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
    traits: { ...engine.traits, lapses: false, keptBy: 'session', spans: false },
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
