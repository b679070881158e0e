import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';
import { manualClock } from '../../src/testing/index.ts';

test('a healthy hold is kept with the longest notice there may be', async () => {
  const clock = manualClock(1);
  await using locks = createLocks(memory({ clock }), { clock, ttl: 3_000, notice: 2_000 });
  const lease = await locks.mutex('key').acquire();
  await clock.advance(20_000);
  expect(lease.signal.aborted, 'the notice came before the renewal').toBe(false);
  expect(lease.held).toBe(true);
});
