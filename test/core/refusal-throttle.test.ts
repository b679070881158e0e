import { setImmediate as turned } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import type { Clock } from '../../src/core/contract/clock.ts';
import { RefusalThrottle } from '../../src/core/engine/back-pressure.ts';

/** How many of a hundred refusals in a row are over before the event loop turns, and after each turn. */
async function refusals(clock: Clock, turn: () => unknown): Promise<number[]> {
  const throttle = new RefusalThrottle(clock);
  let over = 0;
  const loop = (async () => {
    for (let i = 0; i < 50; i++, over++) await throttle.next();
  })();
  const seen: number[] = [];
  for (let i = 0; i < 3; i++) {
    for (let settled = 0; settled < 500; settled++) await undefined;
    seen.push(over);
    await turn();
  }
  await Promise.race([loop, turned().then(turned)]);
  return seen;
}

test('of refusals in a row sixteen are over before others have their turn', async () => {
  const { turn: _, ...clock } = manualClock();
  expect(await refusals(clock, turned)).toEqual([16, 33, 50]);
});

test('a clock that can turn decides when others have had theirs', async () => {
  const turns: (() => void)[] = [];
  const clock = { ...manualClock(), turn: (fn: () => void) => void turns.push(fn) };
  expect(await refusals(clock, () => {})).toEqual([16, 16, 16]);
  expect(turns, 'asked for once').toHaveLength(1);
});

test('an error is thrown after the turn', async () => {
  const error = new Error('refused');
  await expect(new RefusalThrottle(manualClock()).refuse(error)).rejects.toBe(error);
});
