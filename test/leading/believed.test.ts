import { expect, test } from 'vitest';
import { believedUntil } from './believed.ts';

const DEADLINE = 1_000;

test.each([
  1, 2, 3,
])('a leader that is stopped before its reading %d of the clock never counts beyond its deadline', (stop) => {
  let [time, readings] = [980, 0];
  const now = (): number => {
    if (++readings === stop) time += 5_000;
    return time;
  };
  const term = {
    // As a lease: it looks whether it is held, and only then how long.
    get remaining() {
      return now() < DEADLINE ? DEADLINE - now() : 0;
    },
  };
  expect(believedUntil(term, now) ?? 0, 'ms').toBeLessThanOrEqual(DEADLINE);
});
