import { expect, test } from 'vitest';
import { standings } from '../../../src/backends/quorum/standings.ts';
import { EXCLUSIVE } from '../../../src/core/admission.ts';
import type { Standing } from '../../../src/core/backend.ts';

/** One node's list: the claim with this ticket, or nothing. */
const list = (ticket: bigint | undefined): Standing[] =>
  ticket === undefined
    ? []
    : [{ key: 'k', held: true, position: 0, ticket, ...EXCLUSIVE, label: `${'a'.repeat(15)} me`, remaining: 1_000 }];

test.each<[string, (bigint | undefined)[], boolean]>([
  ['all nodes agreed on its number', [7_000n, 7_000n, 7_000n], true],
  ['a majority agreed, and another vote came too late to count', [7_000n, 7_000n, 90_000n], true],
  ['one node lost its vote and gave it anew, as the last number of the hold', [7_000n, 7_064n, undefined], true],
])('a claim is shown as a hold where %s', (_title, tickets, held) => {
  expect(standings(tickets.map(list), 2, true).map(({ standing }) => standing.held)).toEqual([held]);
});

test('a claim of which the vote is under way is not shown as a hold: its number may change, and it may be lost', () => {
  expect(standings([7_000n, 90_000n, undefined].map(list), 2, true).map(({ standing }) => standing.held)).toEqual([
    false,
  ]);
});
