import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { type RegisterStore, register } from '../../../src/backends/register/index.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';
import { memoryStore, shared } from '../../kit/register-store.ts';

const TTL = 1_000;
const claim = (id: string): Claim => ({
  key: 'k',
  id,
  ...EXCLUSIVE,
  ttl: TTL,
  queue: false,
  tokenCount: 1,
  within: TTL,
  label: id,
});

/** Processes on one store, each with a client of its own. */
function scene() {
  const clock = manualClock();
  const all = shared();
  const process = (changes: Partial<RegisterStore> = {}, tellsTime = true) =>
    register({ ...memoryStore(all, { clock, tellsTime }), ...changes }, { clock });
  return { clock, all, process };
}

test('one process at a time holds a new key of a store that tells conflicts and the time', async () => {
  const { process } = scene();
  const telling = { tellsConflicts: true };
  expect(await process(telling).attempt(claim('a'))).toMatchObject({ granted: true });
  expect(await process(telling).attempt(claim('b'))).toMatchObject({ granted: false });
});

test.each([
  ['an empty answer', {}],
  ['undefined', undefined],
  ['a time that is no number', { now: Number.NaN }],
])('a store that tells the time and reads %s is refused', async (_, entry) => {
  const { process } = scene();
  const read = async () => entry;
  await expect(process({ read }).attempt(claim('a'))).rejects.toMatchObject({ code: 'LOCK_INVALID' });
});

test('a process that gets the time of a store watches a claim that was written without it', async () => {
  const { clock, process } = scene();
  expect(await process({}, false).attempt(claim('a'))).toMatchObject({ granted: true });
  const next = process();
  expect(await next.attempt(claim('b'))).toMatchObject({ granted: false });
  await clock.advance(TTL - 1);
  expect(await next.attempt(claim('b'))).toMatchObject({ granted: false });
  await clock.advance(1);
  expect(await next.attempt(claim('b'))).toMatchObject({ granted: true });
});
