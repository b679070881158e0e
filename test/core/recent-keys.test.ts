/** What is remembered of the keys that were used last. */
import { expect, test } from 'vitest';
import { RecentKeys } from '../../src/core/contract/recent-keys.ts';

/** What is left after all of them were used, one after the other. */
const left = (keys: RecentKeys<string>, ...used: readonly string[]): string => {
  for (const key of used) keys.set(key, key);
  return [...keys.keys()].join('');
};

test('as many keys are remembered as are kept, and those that were not used for longest make room', () => {
  expect(left(new RecentKeys(3), 'a', 'b', 'c')).toBe('abc');
  expect(left(new RecentKeys(3), 'a', 'b', 'c', 'd')).toBe('bcd');
});

test('a key that is used again is the one that was used last', () => {
  expect(left(new RecentKeys(3), 'a', 'b', 'c', 'a', 'd')).toBe('cad');
});

test('a key that has to stay keeps its place, and the next one makes room for it', () => {
  const stays = (key: string): boolean => 'ab'.includes(key);
  expect(left(new RecentKeys(3, stays), 'a', 'b', 'c', 'd')).toBe('abd');
});

test('where all others have to stay, the one that is used now is not forgotten', () => {
  expect(left(new RecentKeys(2, (key) => key !== 'c'), 'a', 'b', 'c')).toBe('abc');
});

test('what had to stay goes with the first key that comes when it has not to any more, and all that is too much goes at once', () => {
  let over = false;
  const keys = new RecentKeys<string>(2, () => !over);
  expect(left(keys, 'a', 'b', 'c', 'd')).toBe('abcd');
  over = true;
  expect(left(keys, 'e')).toBe('de');
});

test('as in every map, a key is set and the map goes on to the next', () => {
  const keys = new RecentKeys<number>(1);
  expect(keys.set('a', 1).set('b', 2)).toBe(keys);
  expect(keys.set('c', 3).get('c')).toBe(3);
});

test('a thousand keys are kept where nothing else is said', () => {
  const keys = new RecentKeys<number>();
  for (let key = 0; key <= 1_000; key++) keys.set(`${key}`, key);
  expect([keys.size, keys.has('0'), keys.has('1')]).toEqual([1_000, false, true]);
});

test('where very many keys have to stay, the use of a key looks at few of them', () => {
  let looks = 0;
  const keys = new RecentKeys<number>(1_000, () => {
    looks++;
    return true;
  });
  for (let key = 0; key < 20_000; key++) keys.set(`${key}`, key);
  expect(keys.size, 'all stay').toBe(20_000);
  expect(looks / 20_000, 'looks of each use').toBeLessThan(100);
});

test('when very many keys need no longer stay, all that is too much goes after some uses', () => {
  let over = false;
  const keys = new RecentKeys<number>(1_000, () => !over);
  for (let key = 0; key < 20_000; key++) keys.set(`${key}`, key);
  over = true;
  for (let key = 0; key < 20_000 / 64; key++) keys.set(`next ${key}`, key);
  expect(keys.size, 'keys that are left').toBeLessThan(1_000 + 20_000 / 64);
});
