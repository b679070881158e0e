import { expect, test } from 'vitest';
import { nodeTimeoutOf } from '../../../src/backends/quorum/node.ts';

test.each([
  ['a quarter of its lease', { ttl: 1_200, within: 5_000 }, 300],
  ['no more than half a second', { ttl: 30_000, within: 5_000 }, 500],
  ['no less than a quarter of a second', { ttl: 400, within: 5_000 }, 250],
  ['less than the attempt may take', { ttl: 30_000, within: 100 }, 80],
])('a node may take so long for a claim: %s', (_, claim, ms) => {
  expect(nodeTimeoutOf(claim)).toBe(ms);
});
