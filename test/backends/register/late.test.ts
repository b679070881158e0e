import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { register } from '../../../src/backends/register/index.ts';
import { createLocks } from '../../../src/index.ts';
import { memoryStore, type Shared, shared } from '../../kit/register-store.ts';
import { claim } from './claim.ts';

const texts = ({ entries }: Shared): string[] =>
  [...entries].flatMap(([key, { text }]) => (key.includes('/l/') ? text : []));

test('a write that comes after the release of its claim finds another version, and makes no ghost', async () => {
  const clock = manualClock();
  const all = shared();
  const store = memoryStore(all, { clock });
  const { write } = store;
  let held: (() => Promise<unknown>) | undefined;
  let holds = true;
  store.write = (key, text, ifVersion, signal) => {
    if (!holds || !key.includes('/l/')) return write(key, text, ifVersion, signal);
    holds = false;
    held = () => write(key, text, ifVersion, signal);
    return new Promise(() => {});
  };
  const backend = register(store, { clock });
  const attempt = backend.attempt(claim('a')).catch((error: Error) => error.message);
  await clock.advance(5_000);
  expect(await attempt).toMatch(/did not answer a write within 4000 ms/);
  const released = backend.release({ key: 'k', id: 'a' });
  await clock.advance(10);
  expect(await released).toEqual({ freed: false });
  expect(await held!()).toBe(false);
  expect(texts(all).join()).not.toContain('"id":"a"');
  expect((await backend.attempt(claim('b', { queue: false }))).granted).toBe(true);
});

test.each([
  10, 600,
])('an attempt that was too late takes nothing from the attempt that followed it, %i ms apart', async (way) => {
  const clock = manualClock();
  const all = shared();
  const store = memoryStore(all, { clock });
  const { write } = store;
  let ways = 600; // the first change of the line is late, and then it takes as long as is given here
  store.write = async (key, ...rest) => {
    const written = await write(key, ...rest);
    if (!key.includes('/l/')) return written;
    const wait = ways;
    ways = way;
    await new Promise<void>((resolve) => clock.after(wait, resolve));
    return written;
  };
  const backend = register(store, { clock });
  const hasty = claim('a', { within: 500 });
  const first = backend.attempt(hasty);
  await clock.advance(500); // now its caller gives it up, and asks again
  const second = backend.attempt({ ...hasty, within: 5_000 });
  await clock.advance(5_000);
  expect(await first).toMatchObject({ granted: false, late: true });
  expect(await second).toMatchObject({ granted: true });
  const other = backend.attempt(claim('b', { queue: false }));
  await clock.advance(5_000);
  expect(await other, 'while the first one holds it').toMatchObject({ granted: false });
});

test('an attempt that was too late takes no place from the attempt that followed it', async () => {
  const clock = manualClock();
  const all = shared();
  const store = memoryStore(all, { clock });
  const backend = register(store, { clock });
  const holder = backend.attempt(claim('z'));
  await clock.advance(10);
  expect(await holder).toMatchObject({ granted: true });
  const { write } = store;
  let way = 600; // the first change of the queue is late
  store.write = async (key, ...rest) => {
    const written = await write(key, ...rest);
    if (key.includes('/l/')) await new Promise<void>((resolve) => clock.after(way, resolve));
    way = 10;
    return written;
  };
  const hasty = claim('a', { within: 500 });
  const first = backend.attempt(hasty);
  await clock.advance(500); // now its caller gives it up, and asks again
  const second = backend.attempt({ ...hasty, within: 5_000 });
  await clock.advance(5_000);
  expect(await first).toMatchObject({ granted: false, late: true });
  expect(await second).toMatchObject({ granted: false, ahead: 1 });
  expect(texts(all).join(), 'the queue, where the second attempt was told that it waits').toContain('"id":"a"');
});

test('of two attempts that were too late, the last takes the claim back', async () => {
  const clock = manualClock();
  const all = shared();
  const store = memoryStore(all, { clock });
  const { write } = store;
  store.write = async (key, ...rest) => {
    const written = await write(key, ...rest);
    if (key.includes('/l/')) await new Promise<void>((resolve) => clock.after(1_100, resolve));
    return written;
  };
  const backend = register(store, { clock });
  const hasty = claim('a', { within: 500 });
  const first = backend.attempt(hasty);
  await clock.advance(500); // now its caller gives it up, and asks again
  const second = backend.attempt(hasty);
  await clock.advance(10_000);
  expect(await Promise.all([first, second])).toMatchObject([{ late: true }, { late: true }]);
  expect(texts(all).join(), 'the queue').not.toContain('"id":"a"');
});

test('a write whose answer was lost and is sent again by the client is known again', async () => {
  const all = shared();
  const store = memoryStore(all);
  const { write } = store;
  store.write = async (...call) => {
    await write(...call);
    return write(...call); // a client that got no answer tries again, and meets its own first try
  };
  // The proof would take such a client for another process: it only asks that one of two writes is refused.
  const backend = register(store);
  expect((await backend.attempt(claim('a'))).granted).toBe(true);
  expect(await backend.release({ key: 'k', id: 'a' })).toEqual({ freed: true });
});

test.each([
  'not ours',
  '{"some":"json"}',
  '{"holdfast":1,"key":"another","write":"x","last":"1","claims":[]}',
])('what somebody else wrote where a lock belongs is LOCK_INVALID, and stays as it is: %s', async (text) => {
  const all = shared();
  all.entries.set('holdfast/l/k', { text, version: 'theirs' });
  await using locks = createLocks(register(memoryStore(all)));
  await expect(locks.mutex('k').acquire({ wait: 100 })).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  expect(all.entries.get('holdfast/l/k')).toEqual({ text, version: 'theirs' });
});

test('a line in the form of a later version is LOCK_UNAVAILABLE, and stays as it is', async () => {
  const all = shared();
  const text = '{"holdfast":2,"key":"k","write":"x","crowd":[]}';
  all.entries.set('holdfast/l/k', { text, version: 'later' });
  await using locks = createLocks(register(memoryStore(all)));
  await expect(locks.mutex('k').acquire({ wait: 0 })).rejects.toMatchObject({
    code: 'LOCK_UNAVAILABLE',
    message: expect.stringContaining('upgrade this one'),
  });
  expect(all.entries.get('holdfast/l/k')?.text).toBe(text);
});

test('what somebody else wrote where a note or the proof belongs is LOCK_INVALID, and is neither written nor removed', async () => {
  const all = shared();
  const theirs = { text: 'theirs', version: 'theirs' };
  all.entries.set('holdfast/n/note', theirs);
  const { hints } = register(memoryStore(all));
  for (const text of ['ours', undefined])
    await expect(hints!.write('note', text, 1_000)).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  expect(all.entries.get('holdfast/n/note')).toBe(theirs);
  all.entries.set('holdfast/proof', theirs);
  await using locks = createLocks(register(memoryStore(all)));
  await expect(locks.mutex('k').acquire({ wait: 0 })).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  expect([...all.entries.keys()]).toEqual(['holdfast/n/note', 'holdfast/proof']);
  expect(all.entries.get('holdfast/proof')).toBe(theirs);
});

test('a lease shorter than what can be observed is LOCK_INVALID', () => {
  const locks = createLocks(register(memoryStore(shared(), { minTtl: 1_000 })));
  expect(() => locks.mutex('k', { ttl: 500 })).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
});
