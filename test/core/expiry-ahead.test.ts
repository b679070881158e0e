import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { EXCLUSIVE } from '../../src/core/contract/admission.ts';
import { createLocks } from '../../src/index.ts';

test('when a holder expires the first in line asks at once, and not the whole line with it', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const asked: number[] = [];
  const counted = around(engine, {
    attempt(claim) {
      asked.push(clock.now());
      return engine.attempt(claim);
    },
  });
  const dead = {
    key: 'key',
    id: 'dead',
    ...EXCLUSIVE,
    ttl: 9_500,
    queue: false,
    tokenCount: 1,
    within: 1_000,
    label: '',
  };
  await engine.attempt(dead);
  const expiry = clock.now() + dead.ttl;
  let next = 0;
  const waiting = Array.from({ length: 300 }, async () => {
    const lease = await createLocks(counted, { clock, ttl: 30_000 }).mutex('key').acquire({ wait: 20_000 });
    next ||= clock.now();
    return lease;
  });
  for (const wait of waiting) wait.catch(() => {});
  await clock.advance(12_000);
  expect(next - expiry, 'ms after the expiry').toBeLessThan(20);
  // All of them give a sign of life within two seconds, which is 8 in 50 ms.
  const crowd = asked.filter((at) => at >= expiry - 5 && at < expiry + 50).length;
  expect(crowd, 'asked within 50 ms').toBeLessThan(40);
  await clock.advance(20_000);
});
