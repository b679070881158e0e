/** Which values answer a claim. */
import { expect, test } from 'vitest';
import { isAnswer, MIN_VALUE_TTL_MS, NO_MARK } from '../../src/core/contract/values.ts';

test('a value answers those who take one of its age: a value of this moment, and one that is just as old, too', () => {
  const ages = [0, 0.5, 9, 10, 10.5];
  expect(ages.filter((age) => isAnswer({ age }, 10))).toEqual([0, 0.5, 9, 10]);
  expect(ages.filter((age) => isAnswer({ age }, 0))).toEqual([0]);
});

test('a value that seems to come from the future answers only those who take any', () => {
  expect(isAnswer({ age: -1 }, 10)).toBe(false);
  expect(isAnswer({ age: -1 }, Number.POSITIVE_INFINITY)).toBe(true);
  expect(isAnswer({ age: 1e12 }, Number.POSITIVE_INFINITY)).toBe(true);
});

test('other versions in the same fleet take these for the same: no mark, and how long a value is kept at least', () => {
  expect([NO_MARK, MIN_VALUE_TTL_MS]).toEqual(['-', 60_000]);
});
