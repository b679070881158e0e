import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { onceFor, sleep } from '../../src/core/contract/promises.ts';

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
