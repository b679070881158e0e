/** What memos keep beside a queue that the server keeps itself: what a claim is told, and what is written. */
import { expect, test } from 'vitest';
import { countedIn, type KeyRecord, recordWith } from '../../../src/backends/shared/record.ts';
import { askBeside } from '../../../src/backends/shared/values-beside.ts';
import type { Attempt } from '../../../src/core/contract/backend.ts';
import type { ValueCondition } from '../../../src/core/contract/values.ts';
import { claim } from '../../core/claim.ts';

const granted: Attempt = { granted: true, token: 9n, validFor: 1_000 };
const refused: Attempt = { granted: false, ahead: 1 };
const counting: ValueCondition = { age: 100, mark: 'mine', counts: 1_000 };

/** The record after a hold with this token began, which counts. */
const begun = (token: bigint): KeyRecord =>
  countedIn(
    undefined,
    claim('before'),
    { ...counting, mark: 'theirs' },
    { granted: true, token, validFor: 1_000 },
    0,
    undefined,
  ).changed!;

/** One attempt, and all that it did, in its order. */
async function ask(
  came: Attempt,
  record?: KeyRecord,
  { accepts = counting, stands = true, fails = false, now = 0 } = {},
) {
  const did: string[] = [];
  const slowly = async (what: string): Promise<void> => {
    for (let i = 0; i < 10; i++) await undefined; // the server is elsewhere
    did.push(what);
  };
  const answer = await askBeside(
    claim('mine', { accepts }),
    accepts,
    async () => {
      await slowly('attempt');
      return came;
    },
    async () => {
      await slowly('look');
      return {
        record,
        now,
        async withdraw() {
          await slowly('withdraw');
          if (fails) throw new Error('the server is away');
        },
        async stands() {
          await slowly('stands');
          return stands;
        },
        count: ({ attempts, mark }) => slowly(`count ${attempts} of ${mark}`),
      };
    },
  );
  return { answer, did: [...did] };
}

test('a value is an answer, and the claim is withdrawn before it is given, even where it was granted', async () => {
  const value = recordWith(7n, { text: 'words', ttl: 1_000 }, 0);
  for (const came of [granted, refused]) {
    const { answer, did } = await ask(came, value, { now: 10 });
    expect(answer).toEqual({ granted: false, value: { text: 'words', token: 7n, age: 10, validFor: 990 } });
    expect(did).toEqual(['attempt', 'look', 'withdraw']);
  }
});

test('a value is an answer even if the claim could not be withdrawn', async () => {
  const value = recordWith(7n, { text: 'words', ttl: 1_000 }, 0);
  const { answer } = await ask(granted, value, { fails: true });
  expect(answer).toMatchObject({ granted: false, value: { text: 'words' } });
});

test('a value that is too old is no answer: a grant is counted before it is given', async () => {
  const value = recordWith(7n, { text: 'words', ttl: 1_000 }, 0);
  const { answer, did } = await ask(granted, value, { now: 101 });
  expect(answer).toEqual({ ...granted, attempts: 1 });
  expect(did).toEqual(['attempt', 'look', 'count 1 of mine']);
});

test('a grant is counted on from those before it', async () => {
  const { answer, did } = await ask(granted, begun(7n));
  expect(answer).toMatchObject({ attempts: 2 });
  expect(did).toEqual(['attempt', 'look', 'count 2 of mine']);
});

test('a grant that was counted before, and one of a claim that does not count, write nothing', async () => {
  const again = await ask(granted, begun(9n));
  expect(again.answer).toMatchObject({ granted: true, attempts: 1 });
  expect(again.did).toEqual(['attempt', 'look']);
  const quiet = await ask(granted, begun(7n), { accepts: { ...counting, counts: 0 } });
  expect(quiet.answer).toEqual(granted);
  expect(quiet.did).toEqual(['attempt', 'look']);
});

test('who is refused is told the mark of the hold that was counted last, as long as that is at the head', async () => {
  const behind = await ask(refused, begun(7n));
  expect(behind.answer).toEqual({ ...refused, mark: 'theirs' });
  expect(behind.did).toEqual(['attempt', 'look', 'stands']);
  const other = await ask(refused, begun(7n), { stands: false });
  expect(other.answer).toEqual({ ...refused, mark: '-' });
});

test('where there is no mark, nobody asks who is at the head', async () => {
  const unmarked = { ...begun(7n), mark: '-' };
  for (const record of [undefined, unmarked]) {
    const { answer, did } = await ask(refused, record);
    expect(answer).toEqual({ ...refused, mark: '-' });
    expect(did).toEqual(['attempt', 'look']);
  }
});

test('an attempt that came too late is answered so, and nothing is looked for', async () => {
  const late: Attempt = { granted: false, late: true };
  const { answer, did } = await ask(late, begun(7n));
  expect(answer).toEqual(late);
  expect(did).toEqual(['attempt']);
});
