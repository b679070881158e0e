import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LONGEST, rank } from './longest-first.ts';

test('each file that is to run early is there', () => {
  for (const part of LONGEST) expect(existsSync(new URL(`../${part}.test.ts`, import.meta.url)), part).toBe(true);
});

test('the longest come first, in their order, and all others after them', () => {
  const long = LONGEST.map((part) => `/anywhere/test/${part}.test.ts`);
  const other = '/anywhere/test/core/key.test.ts';
  expect([other, ...long.toReversed()].sort((a, b) => rank(a) - rank(b))).toEqual([...long, other]);
});
