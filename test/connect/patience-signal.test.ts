/** How soon a connect() that was given up ends. */
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { patiently } from '../../src/connect/open.ts';
import { LockError } from '../../src/core/contract/errors.ts';

test('a connect() whose signal its own onError ends is over at once, and not after the next pause', async () => {
  const clock = manualClock();
  const stop = new AbortController();
  let failed: unknown;
  const opening = patiently(
    () => Promise.reject(new LockError('LOCK_UNAVAILABLE', 'nobody is there')),
    () => {},
    { within: 'forever', signal: stop.signal, onError: () => stop.abort() },
    clock,
  ).catch((error: unknown) => {
    failed = error;
  });
  await clock.advance(0);
  expect(failed).toMatchObject({ code: 'LOCK_ABORTED' });
  await clock.advance(10_000);
  await opening;
});
