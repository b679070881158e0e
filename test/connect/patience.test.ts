import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { patiently } from '../../src/connect/open.ts';
import { LockError } from '../../src/index.ts';
import { settleWithin } from '../kit/wait.ts';

const away = (): Promise<string> => Promise.reject(new LockError('LOCK_UNAVAILABLE', 'nobody listens there'));

test('a signal ends the pause between two tries at once, and no timer is left', async () => {
  const clock = manualClock(); // it stands still: no pause is over by itself
  const stop = new AbortController();
  const met = Promise.withResolvers<void>();
  const opening = patiently(away, () => {}, { within: '1m', signal: stop.signal, onError: () => met.resolve() }, clock);
  opening.catch(() => {});
  await met.promise;
  stop.abort('enough');
  await expect(settleWithin('connect() ends', opening, 1_000)).rejects.toMatchObject({
    code: 'LOCK_ABORTED',
    cause: 'enough',
  });
  expect(clock.pending, 'timers').toBe(0);
});

test('a signal ends a try that hangs, and what is opened after that is closed', async () => {
  const stop = new AbortController();
  const late = Promise.withResolvers<string>();
  const closed: string[] = [];
  const opening = patiently(
    () => late.promise,
    (opened) => closed.push(opened),
    { within: '1m', signal: stop.signal },
    manualClock(),
  );
  opening.catch(() => {});
  stop.abort();
  await expect(settleWithin('connect() ends', opening, 1_000)).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
  late.resolve('opened late');
  await expect.poll(() => closed).toEqual(['opened late']);
});
