import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import type { Clock } from '../../src/core/contract/clock.ts';
import { CallTimeouts } from '../../src/core/engine/call-timeouts.ts';

const never = new Promise<never>(() => {});
const late = (): Error => new Error('late');
/** What became of a call, once something has. */
const fate = (call: Promise<unknown>): { is?: unknown } => {
  const seen: { is?: unknown } = {};
  call.then(
    (answer) => (seen.is = answer),
    (error: Error) => (seen.is = error.message),
  );
  return seen;
};

test('each call ends at its own limit, though one timer serves all', async () => {
  const clock = manualClock();
  const patience = new CallTimeouts(clock);
  const [slow, quick] = [fate(patience.bound(never, 300, late)), fate(patience.bound(never, 100, late))];
  expect(clock.pending).toBe(1);
  await clock.advance(99);
  expect([slow.is, quick.is]).toEqual([undefined, undefined]);
  await clock.advance(1);
  expect([slow.is, quick.is]).toEqual([undefined, 'late']);
  await clock.advance(199);
  expect(slow.is).toBe(undefined);
  await clock.advance(1);
  expect(slow.is).toBe('late');
  expect(clock.pending, 'timers left behind').toBe(0);
});

test('calls one after the other share a timer, and none is left when nothing is under way', async () => {
  const clock = manualClock();
  const patience = new CallTimeouts(clock);
  for (let i = 0; i < 10; i++) {
    await patience.bound(Promise.resolve(i), 100, late);
    expect(clock.pending).toBe(1);
  }
  await clock.advance(100);
  expect(clock.pending, 'timers left behind').toBe(0);
});

test('whoever hears an answer after all learns that its call was over, and it expires once', async () => {
  const clock = manualClock();
  const patience = new CallTimeouts(clock);
  const expired: string[] = [];
  const [answered, silent] = ['answered', 'silent'].map((name) => patience.begin(100, () => expired.push(name)));
  expect(patience.end(answered!), 'answered in time').toBe(true);
  await clock.advance(100);
  expect(expired).toEqual(['silent']);
  expect([patience.end(answered!), patience.end(silent!)], 'under way once more').toEqual([false, false]);
  await clock.advance(2_000);
  expect([expired.length, clock.pending], 'expired again, or timers left behind').toEqual([1, 0]);
});

/** A clock whose timers fire `lag` ms late, as in a process that stands still now and then, or is never on time. */
const lagging = (clock: ReturnType<typeof manualClock>, lag: () => number): Clock => ({
  ...clock,
  after: (ms, fn, background) => clock.after(ms + lag(), fn, background),
});

test.each([
  21, 1_000,
])('after a stall of %i ms the answers that lie unread are read before anything is given up', async (stall) => {
  const clock = manualClock();
  let lag = stall;
  const answer = Promise.withResolvers<string>();
  const call = fate(new CallTimeouts(lagging(clock, () => lag)).bound(answer.promise, 100, late));
  lag = 0;
  await clock.advance(100 + stall);
  expect(call.is, 'given up right after the stall').toBe(undefined);
  answer.resolve('unread');
  await clock.advance(1);
  expect(call.is).toBe('unread');
});

test('a call that has no answer when those have been read is given up then', async () => {
  const clock = manualClock();
  let lag = 500;
  const call = fate(new CallTimeouts(lagging(clock, () => lag)).bound(never, 100, late));
  lag = 0;
  await clock.advance(600);
  expect(call.is, 'right after the stall').toBe(undefined);
  await clock.advance(1);
  expect(call.is).toBe('late');
});

test('a timer that is a little late is no stall', async () => {
  const clock = manualClock();
  const call = fate(new CallTimeouts(lagging(clock, () => 20)).bound(never, 100, late));
  await clock.advance(120);
  expect(call.is).toBe('late');
});

test('a call that was answered keeps no timer for the time it could have taken', async () => {
  const clock = manualClock();
  await new CallTimeouts(clock).bound(Promise.resolve(), 60_000, late);
  await clock.advance(1_000);
  expect(clock.pending, 'timers left behind').toBe(0);
});

test('a loop that is always late gives up all the same', async () => {
  const clock = manualClock();
  const call = fate(new CallTimeouts(lagging(clock, () => 50)).bound(never, 100, late));
  await clock.advance(1_000);
  expect(call.is).toBe('late');
});

test('at rest there is no timer, but what is under way keeps its limit', async () => {
  const clock = manualClock();
  const patience = new CallTimeouts(clock);
  await patience.bound(Promise.resolve(), 1_000, late);
  patience.endTimers();
  expect(clock.pending, 'timers left behind').toBe(0);
  const call = fate(patience.bound(never, 100, late));
  patience.endTimers();
  await clock.advance(100);
  expect(call.is).toBe('late');
});

test('closing ends what is under way and leaves no timer', async () => {
  const clock = manualClock();
  const patience = new CallTimeouts(clock);
  const call = fate(patience.bound(never, 100, late));
  patience.close();
  await clock.advance(0);
  expect([call.is, clock.pending]).toEqual(['late', 0]);
});
