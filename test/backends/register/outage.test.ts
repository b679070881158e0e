import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { Calls } from '../../../src/backends/register/calls.ts';
import { KeyDocument } from '../../../src/backends/register/key-document.ts';
import { QueueReader } from '../../../src/backends/register/open-queue.ts';
import { Sightings } from '../../../src/backends/register/sightings.ts';
import { memoryStore, shared } from '../../kit/register-store.ts';
import { claim } from './claim.ts';

test('the queue of a key whose write was not answered is kept while its claim may be released, and no longer', async () => {
  const clock = manualClock();
  const away = async (): Promise<never> => {
    throw new Error('the store is away');
  };
  const calls = new Calls(
    { ...memoryStore(shared(), { clock }), tellsConflicts: true, write: away },
    'holdfast',
    clock,
  );
  const document = new KeyDocument(new QueueReader('k', 'holdfast/l/k', calls, new Sightings()));
  const asking = claim('a', { ttl: 30_000 });
  await expect(document.take({ ttl: asking.ttl }, (queue) => queue.attempt(asking))).rejects.toThrow(/away/);
  // Core asks to release the claim for as long as an attempt waits, and a lease more.
  await clock.advance(asking.within + asking.ttl);
  expect(document.idle, 'while the claim may be released').toBe(false);
  await clock.advance(10 * 60_000);
  expect(document.idle, 'long after that: an outage must not keep the queue of each key that was asked for').toBe(true);
});
