import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { withLimit } from '../../src/core/contract/promises.ts';
import { Activity } from '../../src/core/engine/engine.ts';
import { StepLimit } from '../../src/core/engine/listing.ts';

function setup() {
  const clock = manualClock();
  const activity = new Activity(clock);
  const backgrounds: (boolean | undefined)[] = [];
  const { after } = clock;
  clock.after = (ms, fn, background) => {
    backgrounds.push(background);
    return after(ms, fn, background);
  };
  /** Whether it is over, at any later time. */
  const watched = (work: Promise<void>): { over: boolean } => {
    const seen = { over: false };
    void work.then(() => {
      seen.over = true;
    });
    return seen;
  };
  return { clock, activity, backgrounds, watched };
}

test('a pause ends when its time is over, and keeps the process alive unless it is in the background', async () => {
  const { clock, activity, watched, backgrounds } = setup();
  const pause = watched(activity.pause(100));
  const background = watched(activity.pause(100, true));
  await clock.advance(99);
  expect([pause.over, background.over]).toEqual([false, false]);
  await clock.advance(1);
  expect([pause.over, background.over]).toEqual([true, true]);
  expect(backgrounds).toEqual([false, true]);
});

test('a pause ends with its signal, and leaves no listener and no timer behind', async () => {
  const { clock, activity, watched } = setup();
  const controller = new AbortController();
  const kept = new AbortController();
  const pause = watched(activity.pause(1_000, false, controller.signal));
  const full = watched(activity.pause(100, false, kept.signal));
  controller.abort();
  await clock.advance(0);
  expect(pause.over).toBe(true);
  await clock.advance(100);
  expect(full.over).toBe(true);
  expect(getEventListeners(kept.signal, 'abort')).toEqual([]);
  expect(clock.pending).toBe(0);
  const late = watched(activity.pause(1_000, false, AbortSignal.abort()));
  await clock.advance(0);
  expect([late.over, clock.pending], 'of a signal that was aborted before').toEqual([true, 0]);
});

test('of pauses that are over nothing is kept', async () => {
  const { clock, activity } = setup();
  const { signal } = new AbortController();
  const rings: WeakRef<object>[] = [];
  signal.addEventListener = (_: string, ring: object): void => void rings.push(new WeakRef(ring));
  for (let i = 0; i < 20; i++) void activity.pause(1, false, signal);
  await clock.advance(1);
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  expect(rings.filter((ring) => ring.deref()).length, 'of 20').toBeLessThan(5);
  expect(activity.over).toBe(false); // it is there until now
});

test('the end of it all waits for what is under way, and ends all pauses', async () => {
  const { clock, activity, watched } = setup();
  activity.begin();
  activity.begin();
  const pause = watched(activity.pause(60_000, true));
  const end = watched(activity.quiet(5_000));
  await clock.advance(100);
  activity.end();
  await clock.advance(100);
  expect([end.over, pause.over, activity.over]).toEqual([false, false, false]);
  activity.end();
  await clock.advance(0);
  expect([end.over, pause.over, activity.over]).toEqual([true, true, true]);
  const later = watched(activity.pause(60_000));
  await clock.advance(0);
  expect([later.over, clock.pending], 'a pause from then on').toEqual([true, 0]);
});

test('the end of it all takes no longer than its limit, however often what is under way ends and begins', async () => {
  const { clock, activity, watched } = setup();
  activity.begin();
  const end = watched(activity.quiet(5_000));
  await clock.advance(3_000);
  activity.end();
  activity.begin();
  await clock.advance(1_999);
  expect(end.over).toBe(false);
  await clock.advance(1);
  expect(end.over).toBe(true);
  const last = watched(activity.quiet(1));
  await clock.advance(0.5);
  expect(last.over, 'a limit of 1 ms, before it').toBe(false);
  await clock.advance(0.5);
  expect(last.over).toBe(true);
  const idle = watched(new Activity(clock).quiet(5_000));
  await clock.advance(0);
  expect(idle.over, 'where nothing is under way').toBe(true);
});

test('what goes on may take any time, and is given up by the first step that takes too long', async () => {
  const { clock } = setup();
  const work = new StepLimit();
  const { promise, reject } = Promise.withResolvers<void>();
  let over: unknown;
  const step = (act: () => Promise<void>) => withLimit(act(), 100, () => new Error('too long'), clock);
  work.apply(promise, step).catch((error) => {
    over = error.message;
  });
  for (let i = 0; i < 5; i++) {
    await clock.advance(90);
    work.stepDone();
  }
  await clock.advance(99);
  expect(over).toBeUndefined();
  await clock.advance(1);
  expect(over).toBe('too long');
  reject(new Error('of no interest any more'));
  await clock.advance(1);
  expect(clock.pending).toBe(0);
});

test('what is given up before any step of it began may fail later: nobody has to hear that', async () => {
  const { clock } = setup();
  const { promise, reject } = Promise.withResolvers<void>();
  const refused = new StepLimit().apply(promise, () => Promise.reject(new Error('no step')));
  await expect(refused).rejects.toThrow('no step');
  reject(new Error('of no interest any more'));
  await clock.advance(1);
});

test('limited work gives its own result, and leaves no timer', async () => {
  const { clock } = setup();
  const late = () => new Error('late');
  await expect(withLimit(Promise.resolve(7), 100, late, clock)).resolves.toBe(7);
  await expect(withLimit(Promise.reject(new Error('own')), 100, late, clock)).rejects.toThrow('own');
  expect(clock.pending).toBe(0);
});
