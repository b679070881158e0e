/** Some of the random histories, always the same ones, cut into tests that take about a tenth of a second. */
import { expect, test } from 'vitest';
import { createLocks } from '../../src/index.ts';
import { check } from '../simulation/checkers.ts';
import { simulate } from '../simulation/simulate.ts';

const slice = (nodes: number, first: number, seeds: number): void =>
  test(`${nodes} nodes, seeds from ${first}`, async () => {
    for (let seed = first; seed < first + seeds; seed++)
      expect(check(await simulate(seed, createLocks, nodes))).toEqual([]);
  });

for (let first = 1; first <= 60; first += 6) slice(1, first, 6);
for (let first = 1; first <= 12; first += 2) slice(3, first, 2);
for (let first = 1; first <= 2; first += 1) slice(5, first, 1);
