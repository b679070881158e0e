import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { Agenda } from '../../src/core/engine/call-timeouts.ts';

/** An agenda, and when it rang. */
function alarm(needed = true) {
  const clock = manualClock();
  const rang: number[] = [];
  const start = clock.now();
  const set = new Agenda(clock, () => rang.push(clock.now() - start));
  if (needed) set.add({ slot: -1 }, Number.POSITIVE_INFINITY);
  return {
    clock,
    rang,
    by: (due: number) => set.fireBy(start + due),
    stop: () => set.stop(),
  };
}

test('it rings for what is due first, with one timer', async () => {
  const { clock, rang, by } = alarm();
  for (const due of [300, 100, 200]) by(due);
  expect(clock.pending).toBe(1);
  await clock.advance(1_000);
  expect(rang, 'whoever is rung sets it for the rest').toEqual([100]);
  expect(clock.pending, 'timers left behind').toBe(0);
});

test('it rings for what is far away at its time, and not before', async () => {
  const { clock, rang, by } = alarm();
  by(60_500);
  by(90_000);
  await clock.advance(60_499);
  expect([rang, clock.pending]).toEqual([[], 1]);
  await clock.advance(1);
  expect(rang).toEqual([60_500]);
});

test('no timer outlives by more than a second what it was set for', async () => {
  const { clock, rang, by } = alarm(false);
  by(60_000);
  await clock.advance(1_000);
  expect([rang, clock.pending], 'rung for nothing, and timers left behind').toEqual([[], 0]);
  by(1_500);
  expect(clock.pending, 'set anew').toBe(1);
});

test('what is overdue already is rung for at once, by a timer that keeps no process alive', () => {
  const timers: [ms: number, background?: boolean][] = [];
  const after = (ms: number, _: () => void, background?: boolean) => {
    timers.push([ms, background]);
    return () => {};
  };
  const clock = { ...manualClock(), after };
  const set = new Agenda(clock, () => {});
  set.add({ slot: -1 }, clock.now() - 5);
  expect(timers).toEqual([[0, true]]);
});

/** An agenda whose timers the test fires, as a clock that was a fake one for a while; and for how long each was set. */
function handFired() {
  const armed: number[] = [];
  const fns: (() => void)[] = [];
  const clock = manualClock();
  clock.after = (ms, fn) => {
    armed.push(ms);
    fns.push(fn);
    return () => {};
  };
  const rang: number[] = [];
  const set = new Agenda(clock, () => rang.push(clock.now()));
  const add = (due: number) => set.add({ slot: -1 }, due);
  return { clock, armed, rang, add, fire: () => fns.at(-1)!() };
}

test('whoever comes while the timer is set for no later costs no timer', async () => {
  const { clock, armed, add } = handFired();
  for (const due of [60_000, 60_000, 90_000]) add(due);
  await clock.advance(1);
  add(60_001);
  expect(armed).toEqual([1_000]);
});

test('a timer that is more than a second late will never fire, and is set anew by whoever comes next', async () => {
  const { clock, armed, rang, add, fire } = handFired();
  add(100);
  await clock.advance(1_100);
  add(5_000);
  expect(armed, 'a second late').toEqual([100]);
  await clock.advance(1);
  add(5_000);
  expect(armed).toEqual([100, 0]);
  fire();
  expect(rang, 'for what was due long ago').toEqual([1_101]);
});

test.each(['rang', 'was stopped'])('what is never due sets no timer, also long after the agenda %s', async (last) => {
  const { clock, by, stop } = alarm();
  by(100);
  if (last === 'was stopped') stop();
  await clock.advance(5_000);
  by(Number.POSITIVE_INFINITY);
  expect(clock.pending, 'timers').toBe(0);
});

test('stopped, it does not ring, until it is set again', async () => {
  const { clock, rang, by, stop } = alarm();
  by(100);
  stop();
  expect(clock.pending, 'timers left behind').toBe(0);
  await clock.advance(200);
  by(300);
  await clock.advance(200);
  expect(rang).toEqual([300]);
});

test('whatever comes and goes, nothing is rung for late, and no timer stays', async () => {
  const step = fc.oneof(
    fc.record({ due: fc.integer({ min: 1, max: 5_000 }) }),
    fc.record({ pass: fc.integer({ min: 1, max: 1_500 }) }),
    fc.constant({ leave: true as const }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const clock = manualClock();
      const late: number[] = [];
      const agenda = new Agenda<{ slot: number; readonly due: number }>(clock, () => {
        for (const item of agenda.items) {
          if (item.due > clock.now()) agenda.fireBy(item.due);
          else if (agenda.remove(item)) late.push(clock.now() - item.due);
        }
      });
      const add = (due: number) => agenda.add({ slot: -1, due }, due);
      for (const each of steps) {
        if ('due' in each) add(clock.now() + each.due);
        else if ('pass' in each) await clock.advance(each.pass);
        else for (const item of agenda.items.slice(0, 1)) expect(agenda.remove(item), 'removed').toBe(true);
        expect(clock.pending, 'timers at once').toBeLessThanOrEqual(1);
        expect(
          agenda.items.filter(({ due }) => due < clock.now()),
          'overdue',
        ).toEqual([]);
        expect(
          agenda.items.map(({ slot }) => slot),
          'each item knows its slot',
        ).toEqual([...agenda.items.keys()]);
      }
      for (const item of agenda.items) agenda.remove(item);
      await clock.advance(1_000);
      expect([late.filter((ms) => ms > 0), clock.pending]).toEqual([[], 0]);
    }),
  );
});
