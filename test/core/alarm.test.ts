import { expect, test } from 'vitest';
import { Alarm } from '../../src/core/alarm.ts';
import { manualClock } from '../../src/testing/index.ts';

/** An alarm, and when it rang. */
function alarm() {
  const clock = manualClock();
  const rang: number[] = [];
  const start = clock.now();
  return { clock, rang, start, alarm: new Alarm(clock, () => rang.push(clock.now() - start)) };
}

test('it rings for what is due first, with one timer', async () => {
  const { clock, rang, start, alarm: first } = alarm();
  for (const due of [300, 100, 200]) first.by(start + due);
  expect(clock.pending).toBe(1);
  await clock.advance(1_000);
  expect(rang, 'whoever is rung sets it for the rest').toEqual([100]);
  expect(clock.pending, 'timers left behind').toBe(0);
});

test('what is due later costs no new timer, and no timer outlives it by more than a second', async () => {
  const { clock, rang, start, alarm: far } = alarm();
  far.by(start + 60_000);
  far.by(start + 90_000);
  expect(clock.pending).toBe(1);
  await clock.advance(1_000);
  expect(rang, 'it rings to have a look').toEqual([1_000]);
  expect(clock.pending, 'timers left behind').toBe(0);
});

test('stopped, it does not ring, until it is set again', async () => {
  const { clock, rang, start, alarm: stopped } = alarm();
  stopped.by(start + 100);
  stopped.stop();
  expect(clock.pending, 'timers left behind').toBe(0);
  await clock.advance(200);
  stopped.by(start + 300);
  await clock.advance(200);
  expect(rang).toEqual([300]);
});
