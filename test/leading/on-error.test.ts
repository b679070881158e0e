/** What a user's `onError` throws, or rejects with, is told and harms nothing. */
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { patiently } from '../../src/connect/open.ts';
import { nodeCronTask } from '../../src/cron/index.ts';
import { createLocks, LockError } from '../../src/index.ts';
import { until } from '../kit/wait.ts';

/** The warnings of listeners that failed. */
function warnings() {
  const said: string[] = [];
  const note = ({ name, message }: Error): void => {
    if (name === 'HoldfastListenerWarning') said.push(message);
  };
  process.on('warning', note);
  return { said, [Symbol.dispose]: () => void process.off('warning', note) };
}

const FAILS: [string, (error: unknown) => void][] = [
  [
    'throws',
    () => {
      throw new Error('no log');
    },
  ],
  ['rejects', (async () => Promise.reject(new Error('no log'))) as () => void],
];

test.each(FAILS)('a leader whose onError %s campaigns again', async (_, onError) => {
  using warned = warnings();
  const clock = manualClock();
  const stop = new AbortController();
  let terms = 0;
  const leader = createLocks(memory({ clock }), { clock }).leader('l', { onError });
  const run = leader.run(
    () => {
      terms++;
      throw new Error('not today');
    },
    { signal: stop.signal },
  );
  run.catch(() => {});
  await clock.advance(5_000);
  expect(terms).toBeGreaterThan(1);
  stop.abort();
  await run;
  await until('it is told', () => warned.said.length === terms);
  expect(warned.said[0]).toBe('onError of leader "l" failed, and holdfast goes on: no log');
});

test.each(FAILS)('a connection is tried again though onError %s', async (_, onError) => {
  using warned = warnings();
  const clock = manualClock();
  let tries = 0;
  const open = async () => {
    if (++tries < 3) throw new LockError('LOCK_UNAVAILABLE', 'nobody is there');
    return 'open';
  };
  const opening = patiently(open, () => {}, { within: '1m', onError }, clock);
  opening.catch(() => {});
  await clock.advance(20_000);
  expect(await opening).toBe('open');
  await until('it is told', () => warned.said.length === 2);
});

test.each(FAILS)('a tick that cannot be run is told to an onError that %s, and to nobody else', async (_, onError) => {
  using warned = warnings();
  const locks = createLocks(memory());
  await nodeCronTask(locks, 'job', () => {}, { onError, within: 'soon' as never })({ date: new Date() });
  await until('it is told', () => warned.said.length === 1);
});
