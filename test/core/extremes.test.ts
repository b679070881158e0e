import { expect, test } from 'vitest';
import { leastOf, mostOf } from '../../src/core/contract/extremes.ts';

test('the least and the greatest of more numbers than fit the stack are found', () => {
  const many = Array.from({ length: 300_000 }, (_, i) => i);
  expect([leastOf(many), mostOf(many)]).toEqual([0, 299_999]);
});

test('the start counts with the numbers, and alone where there are none', () => {
  expect([leastOf([3, 1, 2]), mostOf([1, 3, 2])]).toEqual([1, 3]);
  expect([leastOf([3, 1, 2], 0), mostOf([1, 3, 2], 4)]).toEqual([0, 4]);
  expect([leastOf([], 5), mostOf([], 5)]).toEqual([5, 5]);
  expect([leastOf([]), mostOf([])]).toEqual([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
});
