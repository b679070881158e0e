import { expect, test } from 'vitest';
import { majorityOf, tally, tallyRelease, tallyRenewal, type Vote } from '../../../src/backends/quorum/tally.ts';

const yes = (ticket: bigint): Vote => ({ kind: 'yes', ticket });
const no: Vote = { kind: 'no' };
const open: Vote = { kind: 'open' };

test.each([
  [[open, open, open], { kind: 'open' }],
  [[yes(1n), yes(1n), open], { kind: 'won', ticket: 1n }],
  [[yes(1n), no, no], { kind: 'lost' }],
  [[yes(1n), no, open], { kind: 'open' }],
  [[yes(1n), yes(2n), open], { kind: 'raise', to: 2n }],
  [[yes(1n), yes(9n), yes(2n)], { kind: 'raise', to: 2n }],
  [[yes(9n), yes(2n), yes(2n)], { kind: 'won', ticket: 2n }],
  [[yes(1n), yes(1n), no, no], { kind: 'lost' }],
  [[no, no, open, open], { kind: 'lost' }],
] as [Vote[], unknown][])('tally %#', (votes, verdict) => {
  expect(tally(votes, majorityOf(votes.length), true)).toEqual(verdict);
});

test('a renewal is certain as soon as a majority is', () => {
  const good = { validFor: 10 };
  expect(tallyRenewal([good, { validFor: 5 }, 'open'], 2)).toEqual({ validFor: 5 });
  expect(tallyRenewal(['gone', 'gone', 'open'], 2)).toBe('gone');
  expect(tallyRenewal([good, 'gone', 'open'], 2)).toBeUndefined();
  expect(tallyRenewal([good, 'gone', 'unknown'], 2)).toBe('unknown');
});

test('a release is certain as soon as a majority is', () => {
  expect(tallyRelease(['freed', 'freed', 'open'], 2)).toBe(true);
  expect(tallyRelease(['nothing', 'nothing', 'open'], 2)).toBe(false);
  expect(tallyRelease(['freed', 'nothing', 'unknown'], 2)).toBe(true);
  expect(tallyRelease(['unknown', 'nothing', 'unknown'], 2)).toBe('unknown');
});
