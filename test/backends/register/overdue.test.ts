import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { register } from '../../../src/backends/register/index.ts';
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

/** Processes on one store without a clock. The first one holds the key, for longer than its lease. */
async function overdue() {
  const clock = manualClock();
  const all = shared();
  const process = () => register(memoryStore(all, { clock }), { clock });
  const holder = process();
  const grant = await holder.attempt(claim('a'));
  if (!grant.granted) throw new Error('the key is new');
  await clock.advance(1.5 * TTL);
  return { holder, token: grant.token, process };
}

test('a release after the lease removes the hold from the store, so a process that has watched nothing gets the key', async () => {
  const { holder, process } = await overdue();
  expect(await holder.release({ key: 'k', id: 'a' })).toEqual({ freed: false });
  expect(await process().attempt(claim('b'))).toMatchObject({ granted: true });
});

test('an eviction of a hold whose lease is over removes it from the store', async () => {
  const { holder, token, process } = await overdue();
  expect(await holder.evict!('k', token)).toBe(false);
  expect(await process().attempt(claim('b'))).toMatchObject({ granted: true });
});

test('an overdue hold that another process removed is not written again by its release', async () => {
  const { holder, process } = await overdue();
  await holder.release({ key: 'k', id: 'a' });
  const next = process();
  expect(await next.attempt(claim('b'))).toMatchObject({ granted: true });
  expect(await holder.release({ key: 'k', id: 'a' })).toEqual({ freed: false });
  expect(await next.renew([claim('b')])).toMatchObject([{ validFor: TTL }]);
});
