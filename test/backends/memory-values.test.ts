/** The values of memos in the memory backend. */
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { claim } from '../core/claim.ts';

function engine() {
  const clock = manualClock();
  const engine = memory({ clock });
  const store = async (key: string, ttl: number): Promise<void> => {
    const holder = claim(`holder of ${key}`, { key });
    await engine.attempt(holder);
    await engine.store!(holder, { text: key, ttl });
  };
  const kept = async (): Promise<string[]> => {
    const keys: string[] = [];
    for await (const key of engine.values!.keys!('')) keys.push(key);
    return keys.sort();
  };
  return { clock, engine, store, kept };
}

test('of values that are over at least one goes with each that comes, and not before', async () => {
  const { clock, store, kept } = engine();
  for (const key of ['a', 'b', 'c', 'd']) await store(key, 10);
  await clock.advance(10);
  expect(await kept()).toEqual(['a', 'b', 'c', 'd']);
  for (let i = 0; i < 4; i++) await store(`new ${i}`, 10);
  expect(await kept()).toEqual(['new 0', 'new 1', 'new 2', 'new 3']);
});

test('values that still count stay, however many come', async () => {
  const { clock, engine: backend, store } = engine();
  await store('a', 11);
  await clock.advance(10);
  for (let i = 0; i < 9; i++) await store(`new ${i}`, 10);
  expect((await backend.values!.look('a')).value).toMatchObject({ text: 'a', validFor: 1, age: 10 });
});

test('values are gone when they are over, and when they are forgotten', async () => {
  const { clock, engine: backend, store } = engine();
  await store('a', 10);
  await store('b', 99);
  await clock.advance(10);
  expect((await backend.values!.look('a')).value).toBeUndefined();
  expect(await backend.values!.forget('b')).toBe(true);
  expect(await backend.values!.forget('b')).toBe(false);
  expect((await backend.values!.look('b')).value).toBeUndefined();
});

test('a hint is read until it is over or taken back, and is no value of a key', async () => {
  const { clock, engine: backend, store, kept } = engine();
  const { read, write } = backend.hints!;
  await store('a', 99);
  await write('a', 'hint', 10);
  await write('b', 'other', 10);
  expect([await read('a'), await read('b'), await read('c')]).toEqual(['hint', 'other', undefined]);
  expect(await kept()).toEqual(['a']);
  await write('b', undefined, 10);
  await clock.advance(9);
  expect([await read('a'), await read('b')]).toEqual(['hint', undefined]);
  await clock.advance(1);
  expect(await read('a')).toBeUndefined();
  expect((await backend.values!.look('a')).value).toMatchObject({ text: 'a' });
});

test('a grant that counts is remembered with its number and its mark, and told to a claim that is refused; one that does not count is not', async () => {
  const { engine: backend } = engine();
  const counts = { age: 0, mark: 'mark', counts: 10 };
  const asking = (id: string, accepts = counts, key = 'key') => backend.attempt(claim(id, { accepts, key }));
  expect(await asking('first')).toEqual({ granted: true, token: 1n, validFor: 1_000, attempts: 1 });
  await backend.release({ key: 'key', id: 'first' });
  expect(await asking('second')).toMatchObject({ granted: true, attempts: 2 });
  expect(await asking('third')).toMatchObject({ granted: false, mark: 'mark' });
  await backend.release({ key: 'key', id: 'second' });
  await backend.release({ key: 'key', id: 'third' });
  await backend.attempt(claim('of no memo'));
  expect(await asking('fourth')).toMatchObject({ granted: false, mark: '-' });
  expect(await asking('other', { ...counts, counts: 0 }, 'other')).not.toHaveProperty('attempts');
  expect(await backend.values!.look('key')).toEqual({ attempts: 2, mark: 'mark', begun: 2n });
  expect(await backend.values!.look('other')).toMatchObject({ attempts: 0 });
});
