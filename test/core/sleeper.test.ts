import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { Sleeper } from '../../src/core/engine/listener.ts';

/** How long each sleep took, one after the other. */
async function sleeps(
  clock: ReturnType<typeof manualClock>,
  sleeper: Sleeper,
  ...lengths: number[]
): Promise<number[]> {
  const took: number[] = [];
  const all = (async () => {
    for (const ms of lengths) {
      const from = clock.now();
      await sleeper.sleep(ms);
      took.push(clock.now() - from);
    }
  })();
  await clock.advance(10_000);
  await all;
  return took;
}

test('a sleep lasts as long as it is told when nobody rings', async () => {
  const clock = manualClock();
  expect(await sleeps(clock, new Sleeper(clock), 300, 50)).toEqual([300, 50]);
});

test('a ring while nobody sleeps ends the next sleep at once, and only that one', async () => {
  const clock = manualClock();
  const sleeper = new Sleeper(clock);
  sleeper.wake();
  sleeper.wake();
  expect(await sleeps(clock, sleeper, 300, 300)).toEqual([0, 300]);
});

test('a ring ends the sleep that it meets, leaves no timer, and nothing for the next sleep', async () => {
  const clock = manualClock();
  const sleeper = new Sleeper(clock);
  let over = false;
  const sleeping = sleeper.sleep(300).then(() => {
    over = true;
  });
  await clock.advance(100);
  expect(over).toBe(false);
  sleeper.wake();
  await sleeping;
  expect(clock.pending, 'timers left behind').toBe(0);
  expect(await sleeps(clock, sleeper, 300)).toEqual([300]);
});

test('a sleep keeps the process alive, unless it is one in the background', () => {
  const kinds: (boolean | undefined)[] = [];
  const after = (_ms: number, _fn: () => void, background?: boolean) => {
    kinds.push(background);
    return () => {};
  };
  const clock = { ...manualClock(), after };
  void new Sleeper(clock).sleep(5);
  void new Sleeper(clock).sleep(5, true);
  expect(kinds).toEqual([false, true]);
});
