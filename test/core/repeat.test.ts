import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { repeat } from '../../src/backends/shared/repeat.ts';

test('an act is repeated after each pause, also after a failure, until it is ended', async () => {
  const clock = manualClock();
  const pauses = [100, 200, 300];
  const at: number[] = [];
  const end = repeat(
    clock,
    () => pauses[at.length] ?? 100,
    () => {
      at.push(clock.now());
      if (at.length === 1) throw new Error('the first one fails');
    },
  );
  expect(at, 'before the first pause').toEqual([]);
  await clock.advance(700);
  expect(at).toEqual([100, 300, 600, 700]);
  end();
  expect(clock.pending, 'timers after its end').toBe(0);
  await clock.advance(1_000);
  expect(at).toHaveLength(4);
});

test('an act that takes long is not begun again meanwhile, nor after the end', async () => {
  const clock = manualClock();
  let begun = 0;
  const end = repeat(
    clock,
    () => 100,
    () => {
      begun++;
      return new Promise<void>((done) => clock.after(1_000, done));
    },
  );
  await clock.advance(1_050);
  expect(begun, 'while it takes its time').toBe(1);
  await clock.advance(200);
  expect(begun, 'after that and a pause').toBe(2);
  end();
  await clock.advance(5_000);
  expect(begun, 'after its end').toBe(2);
  expect(clock.pending).toBe(0);
});

test('it keeps no process alive', async () => {
  const kept: (boolean | undefined)[] = [];
  const clock = manualClock();
  const end = repeat(
    {
      ...clock,
      after(ms, fn, background) {
        kept.push(background);
        return clock.after(ms, fn);
      },
    },
    () => 100,
    () => {},
  );
  await clock.advance(100);
  end();
  expect(kept, 'whether each timer is one of the background').toEqual([true, true]);
});
