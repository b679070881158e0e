import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { callListener, listOf, onceFor, sleep, withLimit } from '../../src/core/contract/promises.ts';

test('an act for all callers is done once, and tried again only after a failure', async () => {
  let tried = 0;
  const act = onceFor(async () => {
    if (++tried === 1) throw new Error('not yet');
    return `done by try ${tried}`;
  });
  expect(tried, 'before anybody asks').toBe(0);
  const both = await Promise.allSettled([act(), act()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(tried, 'tries for two who ask at a time').toBe(1);
  await expect(act()).resolves.toBe('done by try 2');
  await expect(act()).resolves.toBe('done by try 2');
  expect(tried).toBe(2);
});

test('a sleep ends after its time, or with its signal, and leaves no timer and no listener', async () => {
  const clock = manualClock();
  const ends: string[] = [];
  const { signal } = new AbortController();
  const waker = new AbortController();
  void sleep(clock, 10).then(() => ends.push('without a signal'));
  void sleep(clock, 20, signal).then(() => ends.push('with a signal'));
  void sleep(clock, 30, waker.signal).then(() => ends.push('woken'));
  await clock.advance(9);
  expect({ ends, timers: clock.pending }).toEqual({ ends: [], timers: 3 });
  waker.abort();
  await clock.advance(0);
  expect({ ends, timers: clock.pending }).toEqual({ ends: ['woken'], timers: 2 });
  await clock.advance(11);
  expect({ ends, timers: clock.pending }).toEqual({ ends: ['woken', 'without a signal', 'with a signal'], timers: 0 });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(getEventListeners(waker.signal, 'abort')).toEqual([]);
});

test('work with a limit ends as it would without one, and leaves no timer, or else with the error of the limit', async () => {
  const clock = manualClock();
  const late = () => new Error('late');
  expect(await withLimit(Promise.resolve('done'), 10, late, clock)).toBe('done');
  await expect(withLimit(Promise.reject(new Error('failed')), 10, late, clock)).rejects.toThrow('failed');
  await turn();
  expect(clock.pending, 'of what is over').toBe(0);
  const ended = expect(withLimit(new Promise(() => {}), 10, late, clock)).rejects.toThrow('late');
  await clock.advance(9);
  expect(clock.pending).toBe(1);
  await clock.advance(1);
  await ended;
});

test('a list has all that was given, in its order', async () => {
  async function* given() {
    yield 'a';
    await turn();
    yield 'b';
  }
  expect(await listOf(given())).toEqual(['a', 'b']);
});

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('no.');
    },
  ],
  ['rejects', () => Promise.reject(new Error('no.'))],
])('a listener of the user that %s harms nobody, and is told of in a warning with a name of its own', async (_title, fails) => {
  const warned: [string, unknown][] = [];
  const { emitWarning } = process;
  process.emitWarning = ((text: string, name: unknown) => void warned.push([text, name])) as typeof emitWarning;
  try {
    callListener('onLost', fails, 'its argument');
    await turn();
  } finally {
    process.emitWarning = emitWarning;
  }
  expect(warned).toEqual([['onLost failed, and holdfast goes on: no', 'HoldfastListenerWarning']]);
});

test('a listener of the user gets its argument, and no warning comes where it succeeds', async () => {
  const got: unknown[] = [];
  const { emitWarning } = process;
  process.emitWarning = (() => got.push('a warning')) as unknown as typeof emitWarning;
  try {
    callListener('onLost', (argument) => got.push(argument), 'its argument');
    callListener('onLost', async (argument) => got.push(argument), 'another');
    await turn();
  } finally {
    process.emitWarning = emitWarning;
  }
  expect(got).toEqual(['its argument', 'another']);
});

test('a sleep whose signal is over already ends at once', async () => {
  const clock = manualClock();
  let over = false;
  void sleep(clock, 10_000, AbortSignal.abort()).then(() => {
    over = true;
  });
  await clock.advance(0);
  expect(over).toBe(true);
});
