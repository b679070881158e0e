import { expect, test } from 'vitest';
import { lose, manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';

test('a lease that is lost on purpose is lost: told, not held, and free for others', async () => {
  await using locks = createLocks(memory());
  const lease = await locks.mutex('k').acquire();
  lose(lease);
  expect(lease.signal.aborted).toBe(true);
  expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_LOST' }));
  await using next = await locks.mutex('k').acquire({ wait: '1s' });
  expect(next.token).toBeGreaterThan(lease.token);
  expect(await lease.release()).toBe(false);
});

test('of several keys one is enough; anything but a lease is refused', async () => {
  await using locks = createLocks(memory());
  await locks.all(['a', 'b']).run((lease) => {
    lose(lease);
    expect([lease.held, lease.signal.aborted]).toEqual([false, true]);
  });
  expect(() => lose({} as never)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
});

test('code that keeps its lease to itself loses it by force, and hears of it at its next renewal', async () => {
  const clock = manualClock();
  const locks = createLocks(memory({ clock }), { clock });
  let reason: unknown;
  const job = locks.mutex('k').run(async ({ signal }) => {
    await new Promise((stopped) => signal.addEventListener('abort', stopped));
    reason = signal.reason;
  });
  await clock.advance(0);
  await locks.forceRelease('k', { reason: 'a test' });
  await clock.advance(10_000);
  await job;
  expect(reason).toMatchObject({ code: 'LOCK_LOST' });
});
