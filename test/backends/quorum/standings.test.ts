import { expect, test } from 'vitest';
import { pollsOf } from '../../../src/backends/quorum/inspect.ts';
import { EXCLUSIVE, SHARED } from '../../../src/core/contract/admission.ts';
import type { QueueEntry } from '../../../src/core/contract/backend.ts';

const TAG = 'a'.repeat(15);
const claimed = (more: Partial<QueueEntry> = {}): QueueEntry => ({
  ...{ key: 'k', held: true, position: 0, token: 7n, ...EXCLUSIVE, label: `${TAG} me`, remaining: 1_000 },
  ...more,
});

/** One node's list: the claim with this token, or nothing. */
const list = (token: bigint | undefined): QueueEntry[] => (token === undefined ? [] : [claimed({ token })]);

test.each<[string, (bigint | undefined)[], boolean]>([
  ['all nodes agreed on its number', [7_000n, 7_000n, 7_000n], true],
  ['a majority agreed, and another vote came too late to count', [7_000n, 7_000n, 90_000n], true],
  ['one node lost its vote and gave it anew, as the last number of the hold', [7_000n, 7_064n, undefined], true],
])('a claim is shown as a hold where %s', (_title, tokens, held) => {
  expect(pollsOf(tokens.map(list), 2, true).map(({ entry }) => entry.held)).toEqual([held]);
});

test('a claim of which the vote is under way is not shown as a hold: its number may change, and it may be lost', () => {
  expect(pollsOf([7_000n, 90_000n, undefined].map(list), 2, true).map(({ entry }) => entry.held)).toEqual([false]);
});

test('numbers that are no further apart than one hold may have are of one hold, in whatever order they come', () => {
  const held = (...tokens: bigint[]) => pollsOf(tokens.map(list), 2, true)[0]?.entry.held;
  expect([held(1n, 1_024n), held(1_024n, 1n)], 'one hold').toEqual([true, true]);
  expect([held(1n, 1_025n), held(1_025n, 1n)], 'a vote under way').toEqual([false, false]);
  expect([held(1n, 2n, 9_000n), held(9_000n, 5_000n, 1n), held(1n, 9_000n, 5_000n)]).toEqual([false, false, false]);
});

test('a hold is shown under the number that most of its nodes have', () => {
  const token = (...tokens: bigint[]) => pollsOf(tokens.map(list), 2, true)[0]?.entry.token;
  expect([token(9n, 8n, 8n), token(8n, 9n, 8n), token(8n, 8n, 9n)]).toEqual([8n, 8n, 8n]);
});

test('a hold lasts as long as a majority of all nodes keeps it', () => {
  const remaining = (...all: number[]) =>
    pollsOf(
      all.map((each) => [claimed({ remaining: each })]),
      2,
      true,
    )[0]?.entry.remaining;
  expect([remaining(100, 900, 500), remaining(900, 100, 500), remaining(500, 100)]).toEqual([500, 500, 100]);
});

test('readers are shown one after the other, each under a number of its own, and other keys by themselves', () => {
  const readers = ['a', 'b', 'c'].map((tag, i) =>
    claimed({ ...SHARED, label: `${tag.repeat(15)} me`, token: BigInt(i) }),
  );
  const nodes = [[...readers, claimed({ key: 'other' })], undefined, [...readers, claimed({ key: 'other' })]];
  const shown = pollsOf(nodes, 2, true).map(({ entry, tokens }) => [
    ...[entry.key, entry.position, entry.label, entry.token.toString(16), tokens],
  ]);
  expect(shown).toEqual([
    ['k', 0, 'me', 'a'.repeat(15), [0n, undefined, 0n]],
    ['k', 1, 'me', 'b'.repeat(15), [1n, undefined, 1n]],
    ['k', 2, 'me', 'c'.repeat(15), [2n, undefined, 2n]],
    ['other', 0, 'me', '7', [7n, undefined, 7n]],
  ]);
});

test('without tokens a writer is shown under the number of its claim, and its votes need not agree', () => {
  const [poll] = pollsOf([1n, 90_000n].map(list), 2, false);
  expect(poll?.entry).toMatchObject({ held: true, token: BigInt(`0x${TAG}`) });
});

test.each([
  ['a minority has', [claimed(), undefined, undefined]],
  ['a place in line', [claimed({ held: false }), claimed({ held: false }), claimed()]],
  ['a client has that asks a node without its quorum', [1, 2, 3].map(() => claimed({ label: 'me' }))],
])('what %s is not shown', (_, each) => {
  const lists = each.map((one) => (one ? [one] : undefined));
  expect(pollsOf(lists, 2, true)).toEqual([]);
});
