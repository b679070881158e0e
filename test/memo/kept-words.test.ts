/** The words of the memory backend. */
import { expect, test } from 'vitest';
import { KeptWords } from '../../src/backends/shared/kept-words.ts';
import { manualClock } from '../../src/testing/index.ts';
import { claim } from '../core/claim.ts';

function written(...keys: readonly (readonly [key: string, ttl: number])[]) {
  const clock = manualClock();
  const words = new KeptWords(clock);
  const leave = (key: string, ttl: number): void => words.leave(key, 1n, { text: key, ttl });
  for (const [key, ttl] of keys) leave(key, ttl);
  const forgotten = async (...names: readonly string[]): Promise<boolean[]> =>
    Promise.all(names.map((name) => words.forget(name)));
  return { clock, words, leave, forgotten };
}

test('of words that are over two go with each that come, and not before', async () => {
  const { clock, leave, forgotten } = written(['a', 10], ['b', 10], ['c', 10], ['d', 10]);
  await clock.advance(10);
  leave('new', 10);
  expect(await forgotten('a', 'b', 'c', 'd', 'new')).toEqual([false, false, true, true, true]);
});

test('words that still count stay, however many come', async () => {
  const { clock, words, leave } = written(['a', 11]);
  await clock.advance(10);
  for (let i = 0; i < 9; i++) leave(`new ${i}`, 10);
  expect((await words.look('a')).value).toMatchObject({ text: 'a', validFor: 1, age: 10 });
});

test('what was written last is looked at last', async () => {
  const { clock, leave, forgotten } = written(['a', 99], ['b', 10], ['c', 10]);
  leave('a', 99);
  await clock.advance(10);
  leave('new', 99);
  expect(await forgotten('a', 'b', 'c')).toEqual([true, false, false]);
});

test('words are gone when they are over, and when they are forgotten', async () => {
  const { clock, words } = written(['a', 10], ['b', 99]);
  await clock.advance(10);
  expect((await words.look('a')).value).toBeUndefined();
  expect(await words.forget('b')).toBe(true);
  expect(await words.forget('b')).toBe(false);
  expect((await words.look('b')).value).toBeUndefined();
});

test('a grant that counts is remembered with its number and its mark, and told to who is refused; one that does not count is not', async () => {
  const { words } = written();
  const granted = { granted: true, token: 1n, validFor: 1_000 } as const;
  const counts = { age: 0, mark: 'mark', counts: 10 };
  expect(words.told(claim('first'), counts, granted, 1n)).toEqual({ ...granted, attempts: 1 });
  expect(words.told(claim('second'), counts, { ...granted, token: 2n }, 2n)).toMatchObject({ attempts: 2 });
  const refused = { granted: false } as const;
  expect(words.told(claim('third'), counts, refused, 2n)).toEqual({ granted: false, mark: 'mark' });
  expect(words.told(claim('third'), counts, refused, 3n)).toEqual({ granted: false, mark: '-' });
  expect(words.told(claim('other', { key: 'other' }), { ...counts, counts: 0 }, granted, 1n)).toEqual(granted);
  expect(await words.look('key')).toEqual({ attempts: 2, mark: 'mark', begun: 2n });
  expect(await words.look('other')).toMatchObject({ attempts: 0 });
});
