import { expect, test } from 'vitest';
import type { NodeAnswer } from '../../../src/backends/quorum/tally.ts';
import {
  flawOf,
  majorityOf,
  type ReleaseAnswer,
  tally,
  tallyRelease,
  tallyRenewal,
  type Vote,
  worthOf,
} from '../../../src/backends/quorum/tally.ts';

const yes = (token: bigint): Vote => ({ kind: 'yes', token });
const no: Vote = { kind: 'no' };
const open: Vote = { kind: 'open' };
/** The token of a node whose clock is a day ahead, in microseconds. */
const FAR = 86_400_000_000n;

test.each([
  [[open, open, open], { kind: 'open' }],
  [[yes(1n), yes(1n), open], { kind: 'won', token: 1n }],
  [[yes(1n), no, no], { kind: 'lost' }],
  [[yes(1n), no, open], { kind: 'open' }],
  [[yes(1n), yes(2n), open], { kind: 'raise', to: 2n }],
  [[yes(1n), yes(9n), yes(2n)], { kind: 'raise', to: 2n }],
  [[yes(9n), yes(2n), yes(2n)], { kind: 'won', token: 2n }],
  [[yes(1n), yes(FAR), open], { kind: 'open' }],
  [[yes(1n), yes(FAR), yes(2n)], { kind: 'raise', to: 2n }],
  [[open, yes(FAR), yes(2n)], { kind: 'open' }],
  [[yes(1n), yes(FAR), no], { kind: 'raise', to: FAR }],
  [[yes(1n), yes(1n), no, no], { kind: 'lost' }],
  [[no, no, open, open], { kind: 'lost' }],
] as [Vote[], unknown][])('tally %#', (votes, verdict) => {
  expect(tally(votes, majorityOf(votes.length), true)).toEqual(verdict);
});

test('the order in which nodes answer changes nothing', () => {
  const orders = <T>(all: readonly T[]): T[][] =>
    all.length < 2 ? [[...all]] : all.flatMap((each, i) => orders(all.toSpliced(i, 1)).map((rest) => [each, ...rest]));
  for (const [votes, verdict] of [
    [[yes(9n), yes(2n), yes(30n), yes(4n), yes(5n)], { kind: 'raise', to: 5n }],
    [[yes(9n), yes(9n), yes(2n), yes(9n), no], { kind: 'won', token: 9n }],
    [[yes(2n), yes(2n), yes(2n), yes(9n), open], { kind: 'won', token: 2n }],
  ] as const)
    for (const order of orders<Vote>(votes)) expect(tally(order, 3, true)).toEqual(verdict);
});

test('without tokens a majority is enough, under whatever numbers, and the highest is told', () => {
  expect(tally([yes(9n), yes(2n), open], 2, false)).toEqual({ kind: 'won', token: 9n });
  expect(tally([yes(2n), yes(9n), open], 2, false)).toEqual({ kind: 'won', token: 9n });
  expect(tally([yes(2n), no, open], 2, false)).toEqual({ kind: 'open' });
});

const { signal } = new AbortController();
const vote = (token: bigint, until: number, tokenCount = 1, lost?: AbortSignal): NodeAnswer => ({
  ...{ kind: 'yes', token, until, tokenCount, lost },
});
const refused: NodeAnswer = { kind: 'no', why: 'refused', mayHold: false };

test.each([
  ['as long as a majority of its votes', [vote(1n, 10), vote(1n, 30), vote(1n, 20)], { until: 20 }],
  ['as long as the votes under its number', [vote(1n, 10), vote(2n, 90), vote(1n, 20)], { until: 10 }],
  ['for as many tokens as each vote gave', [vote(1n, 9, 8), vote(1n, 9, 3), vote(1n, 9, 5)], { tokenCount: 3 }],
  [
    'for as many tokens as the votes under its number',
    [vote(1n, 9, 8), vote(2n, 9, 3), vote(1n, 9, 5)],
    { tokenCount: 5 },
  ],
  ['whatever others refused', [vote(1n, 10), refused, vote(1n, 20)], { until: 10, tokenCount: 1, losable: false }],
  ['until a vote is lost, where a node can tell', [vote(1n, 9), vote(1n, 9, 1, signal)], { losable: true }],
  [
    'until then only where a vote counts that can be lost',
    [vote(1n, 9), vote(1n, 9), vote(2n, 9, 1, signal)],
    { losable: false },
  ],
])('a hold is good %s', (_, said, worth) => {
  expect(worthOf(said, 2, 1n)).toMatchObject(worth);
});

test('without tokens all votes count', () => {
  expect(worthOf([vote(1n, 10), refused, vote(2n, 30, 5, signal), vote(3n, 20)], 2, undefined)).toEqual({
    ...{ until: 20, tokenCount: 1, losable: true },
  });
});

test('a renewal is certain as soon as a majority is', () => {
  const good = { validFor: 10 };
  expect(tallyRenewal([good, { validFor: 5 }, 'open'], 2)).toEqual({ validFor: 5 });
  expect(tallyRenewal(['gone', 'gone', 'open'], 2)).toBe('gone');
  expect(tallyRenewal([good, 'gone', 'open'], 2)).toBeUndefined();
  expect(tallyRenewal([good, 'gone', 'unknown'], 2)).toBe('unknown');
});

test.each<[string, ReleaseAnswer[], boolean | 'unknown' | undefined]>([
  ['a majority freed it', ['freed', 'freed', 'open'], true],
  ['a majority had nothing', ['nothing', 'nothing', 'open'], false],
  ['one freed it and the others had nothing', ['freed', 'nothing', 'nothing'], false],
  ['some freed it, and what others had is not known', ['freed', 'nothing', 'unknown'], true],
  ['one freed it, and nobody else is known', ['freed', 'unknown', 'unknown'], true],
  ['nobody says that it was freed', ['unknown', 'nothing', 'unknown'], 'unknown'],
  ['some have not answered', ['freed', 'nothing', 'open'], undefined],
  ['nobody has answered', ['open', 'open', 'open'], undefined],
])('of a release it is certain as early as can be what it freed: %s', (_, answers, freed) => {
  expect(tallyRelease(answers, 2)).toBe(freed);
});

test('a grant is for some time, however short, and one for no time is a fault of its backend', () => {
  const flaws = [0.5, 1, 30_000, 0, -1, Number.NaN].map((validFor) => flawOf({ granted: true, token: 1n, validFor }));
  expect(flaws).toEqual([
    ...[undefined, undefined, undefined],
    ...['it grants for 0 ms', 'it grants for -1 ms', 'it grants for NaN ms'],
  ]);
});
