/** What an engine that stores queues relies on, step by step: what it has to write, whom it has to tell, and what it finds when it reads a queue again. */
import { expect, test } from 'vitest';
import { answerTo } from '../../../src/backends/mongodb/documents.ts';
import { EngineQueue, hintsBy } from '../../../src/backends/shared/queue.ts';
import { QueuedClaims } from '../../../src/backends/shared/queued-claims.ts';
import {
  admits,
  byRule,
  claimsOf,
  EngineTime,
  jsonOf,
  TokenCounter,
} from '../../../src/backends/shared/stored-queue.ts';
import { EXCLUSIVE, SHARED } from '../../../src/core/contract/admission.ts';
import { LockError } from '../../../src/core/contract/errors.ts';
import { PLACE_TTL_MS } from '../../../src/core/contract/traits.ts';
import { claim } from '../../core/claim.ts';

const words = { text: 'words', ttl: 1_000 };

/** A queue as an engine finds it: a claim holds, another one waits, and there are words. */
function stored(queue = new EngineQueue(new TokenCounter(0n)), now = 0): EngineQueue {
  queue.at(new EngineTime(now));
  queue.keep(words);
  for (const id of ['holder', 'waiter']) queue.attempt(claim(id, { ttl: 60_000 }));
  return again(queue, now);
}

/** The queue read again. */
const again = (queue: EngineQueue, now: number): EngineQueue =>
  new EngineQueue(new TokenCounter(100n), claimsOf(jsonOf(queue.claims)), queue.record).at(new EngineTime(now));

const empty = (now = 0): EngineQueue => new EngineQueue(new TokenCounter(0n)).at(new EngineTime(now));
const idsIn = (claims: Iterable<{ readonly id: string }>): string[] => Array.from(claims, ({ id }) => id);

test('a queue that is read again has all that was in it: its claims, who holds, and the words', () => {
  const queue = stored();
  expect(queue.entries('key').map(({ held, token }) => [held, token])).toEqual([
    [true, 1n],
    [false, 2n],
  ]);
  expect(queue.look()).toMatchObject({ value: { text: 'words', age: 0, validFor: 1_000 } });
  expect(queue.attempt(claim('next'))).toEqual({ granted: false, ahead: 2, retryAfter: PLACE_TTL_MS });
});

test('a queue that is read again has nothing that has expired meanwhile', () => {
  const queue = again(stored(), PLACE_TTL_MS);
  expect(idsIn(queue.claims)).toEqual(['holder']);
  expect(queue.look().value).toBeUndefined();
});

test.each<[string, (queue: EngineQueue) => unknown]>([
  ['a claim that joins', (queue) => queue.attempt(claim('next'))],
  ['a hold that is confirmed', (queue) => queue.attempt(claim('holder'))],
  ['a hold that is renewed', (queue) => queue.renew({ id: 'holder', ttl: 10 })],
  ['a waiter that does not want to wait any more', (queue) => queue.attempt(claim('waiter', { queue: false }))],
  ['a claim that is released', (queue) => queue.release({ id: 'waiter' })],
  ['a claim that is evicted', (queue) => queue.evict(({ held }) => held)],
  ['a value that is stored', (queue) => queue.keep(words)],
  ['a value that is forgotten', (queue) => queue.keep()],
  ['a value that a hold leaves', (queue) => queue.store({ id: 'holder' }, words)],
])('the engine must write the queue after %s', (_, step) => {
  const queue = stored();
  step(queue);
  expect(queue.changed).toBe(true);
});

test.each<[string, (queue: EngineQueue) => unknown]>([
  ['a look', (queue) => [queue.look(), queue.entries('key'), queue.find('holder')]],
  ['a refusal of who does not wait', (queue) => queue.attempt(claim('next', { queue: false }))],
  ['a waiter that has just asked', (queue) => queue.attempt(claim('waiter', { ttl: 60_000 }))],
  ['a renewal of what is gone', (queue) => queue.renew({ id: 'gone', ttl: 10 })],
  ['a renewal of who waits', (queue) => queue.renew({ id: 'waiter', ttl: 10 })],
  ['a release of what is gone', (queue) => [queue.release({ id: 'gone' }), queue.store({ id: 'gone' }, words)]],
  ['an eviction of nobody', (queue) => queue.evict(() => false)],
])('the engine need not write the queue after %s', (_, step) => {
  const queue = stored();
  step(queue);
  expect(queue.changed).toBe(false);
});

test('where there are no words, there is nothing to forget, and nothing to write', () => {
  const queue = empty();
  expect(queue.keep()).toBe(false);
  expect(queue.changed).toBe(false);
});

test('of each attempt it is known whether its claim came into the queue by it', () => {
  const queue = stored();
  const joinedBy = (id: string, wish = {}): string | undefined => {
    queue.attempt(claim(id, wish));
    return queue.joined?.id;
  };
  expect(joinedBy('next')).toBe('next');
  expect(joinedBy('next')).toBeUndefined();
  expect(joinedBy('other')).toBe('other');
  expect(joinedBy('of no patience', { queue: false })).toBeUndefined();
});

test('a waiter that does not want to wait any more is refused as before, and its place goes to the next one', () => {
  const queue = stored();
  queue.attempt(claim('next'));
  expect(queue.attempt(claim('waiter', { queue: false }))).toMatchObject({ granted: false, ahead: 1 });
  expect(idsIn(queue.claims)).toEqual(['holder', 'next']);
});

test('a waiter that asks again in time keeps its place, as long as it does so', () => {
  const queue = stored();
  for (const now of [1, 2, 3].map((times) => times * (PLACE_TTL_MS - 1)))
    expect(queue.at(new EngineTime(now)).attempt(claim('waiter'))).toMatchObject({ granted: false, ahead: 1 });
  queue.at(new EngineTime(4 * PLACE_TTL_MS));
  expect(idsIn(queue.claims)).toEqual(['holder']);
});

test('a hold that may not have another ttl is renewed for its old one, and is told why', () => {
  const queue = stored();
  const kept = new LockError('LOCK_UNSUPPORTED', 'so long a lease is more than the store keeps');
  expect(queue.renew({ id: 'holder', ttl: 90_000 }, kept)).toEqual({ validFor: 60_000, kept });
  expect(queue.renew({ id: 'holder', ttl: 10 }, kept), 'nor a shorter one').toEqual({ validFor: 60_000, kept });
  expect(queue.entries('key')[0]).toMatchObject({ remaining: 60_000 });
});

test('the claims that an engine keeps from step to step are the ones that each step changes', () => {
  const claims = new QueuedClaims([]);
  const step = (): EngineQueue => new EngineQueue(new TokenCounter(0n), claims).at(new EngineTime(0));
  step().attempt(claim('holder'));
  step().attempt(claim('waiter'));
  expect(idsIn(claims)).toEqual(['holder', 'waiter']);
  step().release({ id: 'holder' });
  expect(idsIn(claims)).toEqual(['waiter']);
  expect(step().renew({ id: 'waiter', ttl: 10 })).toEqual({ validFor: 10 });
});

test('a claim of which nobody knows when it joined is listed without a time', () => {
  const member = { ...EXCLUSIVE, id: 'a', label: 'a', token: 7n, held: true, ttl: 1_000, expires: 1_000 };
  const [entry] = new EngineQueue(new TokenCounter(7n), [member]).at(new EngineTime(400)).entries('key');
  expect(entry).toMatchObject({ token: 7n, remaining: 600 });
  expect(entry).not.toHaveProperty('since');
  const [timed] = new EngineQueue(new TokenCounter(7n), [{ ...member, joined: 150 }])
    .at(new EngineTime(400))
    .entries('key');
  expect(timed).toMatchObject({ since: 250 });
});

test('a claim is listed with the time since it joined, whatever it did since then, and never with less than none', () => {
  const since = (queue: EngineQueue): (number | undefined)[] => queue.entries('key').map(({ since }) => since);
  const queue = empty();
  queue.attempt(claim('holder'));
  queue.at(new EngineTime(10)).attempt(claim('waiter'));
  queue.renew({ id: 'holder', ttl: 1_000 });
  expect(since(queue)).toEqual([10, 0]);
  const doubtful = empty().at(new EngineTime(0, 5)); // the clock may show 5 already
  doubtful.attempt(claim('holder'));
  expect(since(doubtful)).toEqual([0]);
});

test('where the clock is not known exactly, a claim expires late rather than early', () => {
  const queue = empty().at(new EngineTime(0, 5));
  queue.attempt(claim('holder', { ttl: 10 }));
  expect(idsIn(queue.at(new EngineTime(14, 20)).claims)).toEqual(['holder']);
  expect(idsIn(queue.at(new EngineTime(15, 20)).claims)).toEqual([]);
});

test('where a queue does not store who holds, its order and its units say that', () => {
  const permit = { units: 1, capacity: 2, label: '', held: false, ttl: 1_000 };
  const three = [1n, 2n, 3n].map((token) => ({ ...permit, id: `${token}`, token }));
  expect(byRule(three).map(({ held }) => held)).toEqual([true, true, false]);
  expect(admits(three.slice(0, 1), permit), 'one more').toBe(true);
  expect(admits(three.slice(0, 2), permit), 'there is no room').toBe(false);
  expect(admits(three, SHARED), 'others wait').toBe(false);
  expect(admits([], permit)).toBe(true);
});

test('a claim that has a moment left stays, while others expire', () => {
  const queue = empty();
  queue.attempt(claim('holder', { ttl: 11 }));
  queue.attempt(claim('waiter', { placeTtl: 10 }));
  queue.at(new EngineTime(10));
  expect(idsIn(queue.claims)).toEqual(['holder']);
  expect(queue.attempt(claim('next'))).toEqual({ granted: false, ahead: 1, retryAfter: 1 });
});

test('a refusal says when the next claim ahead expires, to a part of a millisecond', () => {
  const queue = empty();
  queue.attempt(claim('holder', { ttl: 10 }));
  queue.at(new EngineTime(9.75));
  expect(queue.attempt(claim('next'))).toMatchObject({ retryAfter: 0.25 });
});

test('words that no hold left are older than every hold: the first hold after them counts', () => {
  const queue = empty();
  queue.keep(words);
  queue.at(new EngineTime(10));
  const newer = { age: 5, mark: 'mark', counts: 1_000 };
  expect(queue.attempt(claim('first', { accepts: newer }))).toMatchObject({ granted: true, token: 1n, attempts: 1 });
  expect(queue.look()).toMatchObject({ attempts: 1, mark: 'mark', begun: 1n });
});

test('an attempt that the server took no notice of in time is answered as late, and not as an ordinary no', () => {
  const now = new Date(1_000);
  const document = { _id: '=key', v: 1, queue: [], now };
  const late = { granted: false, late: true };
  expect(answerTo(claim('a'), document, new Date(999)), 'it came too late').toEqual(late);
  expect(answerTo(claim('a'), document, now), 'it did not come in').toEqual(late);
  const mine = { ...EXCLUSIVE, id: 'a', token: 5n, label: '', joined: now, expires: new Date(2_000) };
  expect(answerTo(claim('a'), { ...document, queue: [mine] }, new Date(999))).toMatchObject({
    granted: true,
    token: 5n,
  });
});

test('a hint is there when its writing has ended, and nothing is left of one that is taken back', async () => {
  const queue = empty();
  const hints = hintsBy(async (_, act) => {
    for (let i = 0; i < 5; i++) await undefined; // the engine is elsewhere
    return act(queue.at(new EngineTime(0)));
  });
  await hints.write('turn', 'yours', 1_000);
  expect(queue.look().value).toMatchObject({ text: 'yours', validFor: 1_000 });
  expect(await hints.read('turn')).toBe('yours');
  await hints.write('turn', undefined, 1_000);
  expect(queue.idle).toBe(true);
  expect(await hints.read('turn')).toBeUndefined();
});
