/** What `memory()` answers to claims, and what its traits say of it, to the millisecond and the token: the other engines are compared with it. */
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { SHARED } from '../../src/core/contract/admission.ts';
import type { Attempt, Grant } from '../../src/core/contract/backend.ts';
import { PLACE_TTL_MS } from '../../src/core/contract/traits.ts';
import { createLocks } from '../../src/index.ts';
import { claim } from '../core/claim.ts';

function still() {
  const clock = manualClock(1);
  return { clock, engine: memory({ clock }) };
}
const tokenOf = (attempt: Attempt): bigint | undefined => (attempt as Partial<Grant>).token;

test('memory() is the engine that can do all: permits, tokens that it never gives twice, and the shortest leases', async () => {
  const { engine, clock } = still();
  expect(engine.traits).toMatchObject({
    units: 'counted',
    fencing: 'durable',
    ttl: { min: 1 },
    values: { maxBytes: 65_536 },
  });
  const locks = createLocks(engine, { clock });
  const lease = await locks.semaphore('permits', { permits: 2 }).acquire({ ttl: 3 });
  expect(lease.held).toBe(true);
});

test('an option that memory() does not know is LOCK_INVALID', () => {
  const unknown = { clok: manualClock(1) } as object;
  expect(() => memory(unknown)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
});

test('a place expires when its own time is over, and not with the lease that it waits for', async () => {
  const { clock, engine } = still();
  const long = { ttl: 60_000 };
  await engine.attempt(claim('holder', long));
  await engine.attempt(claim('waiter', long));
  const places = async (): Promise<boolean[]> => {
    const found: boolean[] = [];
    for await (const { held } of engine.inspect!('key')) found.push(held);
    return found;
  };
  await clock.advance(PLACE_TTL_MS - 1);
  expect(await places(), 'a moment before').toEqual([true, false]);
  await clock.advance(1);
  expect(await places(), 'who holds stays, and who waits is gone').toEqual([true]);
});

test('who waits is told when the first claim ahead of it expires, whenever its own does or that of one behind', async () => {
  const { engine } = still();
  await engine.attempt(claim('holder', { ttl: 500 }));
  await engine.attempt(claim('first', { ttl: 300 }));
  await engine.attempt(claim('last', { ttl: 100 }));
  expect(await engine.attempt(claim('first', { ttl: 300 }))).toEqual({ granted: false, ahead: 1, retryAfter: 500 });
  expect(await engine.attempt(claim('last', { ttl: 100 }))).toEqual({ granted: false, ahead: 2, retryAfter: 300 });
});

test('a token is the proposed one where that is new, and the next one where it is not', async () => {
  const { engine } = still();
  const told: (bigint | undefined)[] = [];
  const wishes = [{}, { minToken: 2n }, { minToken: 10n, tokenCount: 3 }, {}, { minToken: 13n }, { minToken: 3n }];
  for (const [id, wish] of wishes.entries())
    told.push(tokenOf(await engine.attempt(claim(`${id}`, { ...wish, key: `key ${id}` }))));
  expect(told).toEqual([1n, 2n, 10n, 13n, 14n, 15n]);
});

test('no proposal brings back a token that was given before', async () => {
  const { engine } = still();
  for (const id of ['a', 'b', 'c']) await engine.attempt(claim(id, { key: id }));
  expect(tokenOf(await engine.attempt(claim('d', { key: 'd', minToken: 3n })))).toBe(4n);
});

test('a hold that is raised to a proposal has it with all tokens of its tokenCount, and the next hold begins above them', async () => {
  const { engine } = still();
  const holder = claim('holder', { tokenCount: 3 });
  expect(tokenOf(await engine.attempt(holder))).toBe(1n);
  expect(tokenOf(await engine.attempt({ ...holder, minToken: 20n }))).toBe(20n);
  expect(tokenOf(await engine.attempt({ ...holder, minToken: 19n })), 'a lower one lowers nothing').toBe(20n);
  expect(tokenOf(await engine.attempt(claim('next', { key: 'other' })))).toBe(23n);
});

test('a hold that is raised among tokens of other keys takes none of theirs back', async () => {
  const { engine } = still();
  const holder = claim('holder');
  await engine.attempt(holder);
  await engine.attempt(claim('other', { key: 'other', minToken: 50n }));
  await engine.attempt({ ...holder, minToken: 20n });
  expect(tokenOf(await engine.attempt(claim('next', { key: 'next' })))).toBe(51n);
});

test.each([
  true,
  false,
])('of those who wait, words that are left (%s) wake whom they may answer, and nobody else', async (left) => {
  const { engine } = still();
  const answered = { age: 1_000, mark: '-', counts: 0 };
  const woken: string[] = [];
  const holder = claim('holder');
  await engine.attempt(holder);
  for (const [id, wish] of [
    ['next', {}],
    ['for words', { accepts: answered }],
    ['for the lock', {}],
  ] as const) {
    const waiting = claim(id, wish);
    await engine.attempt(waiting);
    await engine.watch!(waiting, (grant) => void woken.push(`${id}${grant ? ' has it' : ''}`));
  }
  await (left ? engine.store!(holder, { text: 'words', ttl: 1_000 }) : engine.release(holder));
  expect(woken).toEqual(left ? ['next has it', 'for words'] : ['next has it']);
});

test('a listing goes by the names of the keys, and one of an exact key has no other', async () => {
  const { engine } = still();
  for (const key of ['key b', 'key', 'key a']) await engine.attempt(claim(key, { key }));
  const listed = async (exact: boolean): Promise<string[]> => {
    const keys: string[] = [];
    for await (const { key } of engine.inspect!('key', { exact })) keys.push(key);
    return keys;
  };
  expect(await listed(false)).toEqual(['key', 'key a', 'key b']);
  expect(await listed(true)).toEqual(['key']);
});

test('who waits has the proposed token when it is admitted, and not only when it asks again', async () => {
  const { engine } = still();
  const woken: (bigint | undefined)[] = [];
  const [holder, waiter] = [claim('holder'), claim('waiter', { minToken: 10n })];
  await engine.attempt(holder);
  await engine.attempt(waiter);
  await engine.watch!(waiter, (grant) => void woken.push(grant?.token));
  await engine.release(holder);
  expect(woken).toEqual([10n]);
});

test('who is admitted together is told in the order of the queue, each of its own grant', async () => {
  const { engine } = still();
  const holder = claim('holder');
  await engine.attempt(holder);
  const told: unknown[] = [];
  for (const [id, ttl] of [
    ['a', 300],
    ['b', 100],
    ['c', 200],
  ] as const) {
    const reader = claim(id, { ...SHARED, ttl });
    await engine.attempt(reader);
    await engine.watch!(reader, (grant) => void told.push({ id, ...grant }));
  }
  await engine.release(holder);
  expect(told).toEqual([
    { id: 'a', granted: true, token: 2n, validFor: 300 },
    { id: 'b', granted: true, token: 3n, validFor: 100 },
    { id: 'c', granted: true, token: 4n, validFor: 200 },
  ]);
});

test('who is told of its turn may give it back, and forget what was left, before the release that made room has ended', async () => {
  const { engine } = still();
  const [holder, next] = [claim('holder'), claim('next')];
  await engine.attempt(holder);
  await engine.attempt(next);
  const done: unknown[] = [];
  await engine.watch!(next, () => void done.push(engine.release(next), engine.values!.forget('key')));
  expect(await engine.store!(holder, { text: 'words', ttl: 1_000 })).toBe(true);
  expect(await Promise.all(done)).toEqual([{ freed: true }, true]);
  expect(await engine.attempt(claim('last'))).toMatchObject({ granted: true });
});

test('a watch that has ended wakes nobody, and one of a claim that is gone watches nothing', async () => {
  const { engine } = still();
  const [holder, waiter] = [claim('holder'), claim('waiter')];
  const wake = (): never => expect.unreachable('nobody watches');
  await (await engine.watch!(claim('of no key', { key: 'free' }), wake))[Symbol.asyncDispose]();
  await engine.attempt(holder);
  await (await engine.watch!(claim('of no place'), wake))[Symbol.asyncDispose]();
  await engine.attempt(waiter);
  await (await engine.watch!(waiter, wake))[Symbol.asyncDispose]();
  await engine.release(holder);
  expect(await engine.attempt(waiter)).toMatchObject({ granted: true });
});
