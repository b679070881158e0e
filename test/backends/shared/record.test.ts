/** What memos keep beside a queue: when it counts, and how it is stored as one text. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  answerIn,
  countedIn,
  type KeyRecord,
  markBehind,
  overAt,
  readRecord,
  recordOf,
  recordWith,
  storedValueIn,
  valueRecordOf,
  writeRecord,
} from '../../../src/backends/shared/record.ts';
import { claim } from '../../core/claim.ts';

const counting = { age: Number.POSITIVE_INFINITY, mark: 'mark', counts: 1_000 };
const grant = (token: bigint) => ({ granted: true, token, validFor: 500 }) as const;
const counted = (record: KeyRecord | undefined, token: bigint, now = 0, accepts = counting) =>
  countedIn(record, claim('mine', { ttl: 500 }), accepts, grant(token), now, undefined);

const time = fc.nat({ max: 2 ** 48 });
const token = fc.bigInt({ min: 0n, max: 2n ** 63n });
const record: fc.Arbitrary<KeyRecord> = fc.record({
  attempts: fc.nat(),
  begun: token,
  mark: fc.stringMatching(/^[!-~]{1,64}$/),
  counts: time,
  token,
  at: time,
  until: time,
  text: fc.string({ unit: 'binary' }),
});

test('what is read is what was written, whatever the value is', () => {
  fc.assert(fc.property(record, (written) => void expect(readRecord(writeRecord(written))).toEqual(written)));
});

test('where the times of the text have parts of a millisecond as their unit, what is read is in milliseconds', () => {
  const text = '1 2 7 mark 3000 9 1000 2000 words';
  const read = { attempts: 2, begun: 7n, mark: 'mark', token: 9n, text: 'words' };
  expect(readRecord(text, 1_000)).toEqual({ ...read, counts: 3, at: 1, until: 2 });
  expect(readRecord(text), 'milliseconds themselves').toEqual({ ...read, counts: 3_000, at: 1_000, until: 2_000 });
});

test('parts of a millisecond are rounded so that nothing ends too soon, and no value seems younger than it is', () => {
  const written = { ...recordWith(9n, { text: 'words', ttl: 10.25 }, 0.5), counts: 7.25 };
  expect(readRecord(writeRecord(written))).toMatchObject({ counts: 8, at: 0, until: 11 });
});

test.each([
  '',
  'words',
  '2 0 0 - 0 9 0 9 words',
  '1 0 0 - 0 9 0 words',
])('a text of another format is refused: %j', (text) => {
  expect(() => readRecord(text)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
});

test('a value is valid until its time, and not at it', () => {
  const stored = recordWith(9n, { text: 'words', ttl: 10 }, 5);
  expect(storedValueIn(stored, 14.5)).toEqual({ text: 'words', token: 9n, age: 9.5, validFor: 0.5 });
  expect(storedValueIn(stored, 15)).toBeUndefined();
  expect(overAt(stored)).toBe(15);
});

test('a value without an age is always new, also where its times were rounded', () => {
  const stored = recordWith(9n, { text: 'words', ttl: 10.5, ageless: true }, 5);
  for (const kept of [stored, readRecord(writeRecord(stored))])
    for (const now of [5, 14]) expect(storedValueIn(kept, now)).toMatchObject({ age: 0 });
  expect(answerIn(stored, { ...counting, age: 0 }, 14)).toMatchObject({ text: 'words' });
});

test('a value that is valid for two milliseconds has an age', () => {
  expect(storedValueIn(recordWith(9n, { text: 'words', ttl: 2 }, 5), 6)).toMatchObject({ age: 1 });
});

test('a new value ends the attempts', () => {
  expect(counted(undefined, 7n).changed).toEqual({
    attempts: 1,
    begun: 7n,
    mark: 'mark',
    counts: 1_500,
    ...{ token: 0n, at: 0, until: 0, text: '' },
  });
  expect(recordWith(7n, { text: 'words', ttl: 10 }, 5)).toEqual({
    attempts: 0,
    begun: 0n,
    mark: '-',
    counts: 0,
    ...{ token: 7n, at: 5, until: 15, text: 'words' },
  });
});

test('attempts count until their time, and not at it', () => {
  const one = counted(undefined, 7n).changed;
  expect(counted(one, 8n, 1_499).attempt).toMatchObject({ attempts: 2 });
  expect(counted(one, 8n, 1_500).attempt).toMatchObject({ attempts: 1 });
  expect(valueRecordOf(one, 1_499)).toEqual({ attempts: 1, mark: 'mark', begun: 7n });
  expect(valueRecordOf(one, 1_500)).toEqual({ attempts: 0, mark: '-', begun: 0n });
  expect(markBehind(one, 7n, 1_499)).toBe('mark');
  expect(markBehind(one, 7n, 1_500)).toBe('-');
  expect(markBehind(one, 8n, 0), 'another hold').toBe('-');
  expect(overAt(one!)).toBe(1_500);
});

test('a hold counts once, however often it asks, and not at all once it has stored a value', () => {
  const one = counted(undefined, 7n).changed;
  const again = counted(one, 7n);
  expect(again.attempt).toMatchObject({ attempts: 1 });
  expect(again.changed).toBeUndefined();
  const stored = counted(recordWith(7n, { text: 'words', ttl: 10 }, 0), 7n);
  expect(stored.changed).toBeUndefined();
});

test('a claim counts if it says for how long, however short that is', () => {
  const shortly = counted(undefined, 7n, 0, { ...counting, counts: 1 });
  expect(shortly.attempt).toMatchObject({ attempts: 1 });
  expect(shortly.changed).toMatchObject({ counts: 501 });
});

test('a claim that does not count is told no number, and changes none', () => {
  const one = counted(undefined, 7n).changed;
  for (const before of [undefined, one])
    expect(counted(before, 8n, 0, { ...counting, counts: 0 })).toEqual({ attempt: grant(8n) });
});

test('a refusal has the mark of who holds, and one that came too late has none', () => {
  const one = counted(undefined, 7n).changed;
  const answer = (late: boolean) =>
    countedIn(one, claim('mine'), counting, { granted: false, ...(late && { late }) }, 0, 7n).attempt;
  expect(answer(false)).toEqual({ granted: false, mark: 'mark' });
  expect(answer(true)).toEqual({ granted: false, late: true });
});

test('of two texts, one with the value and one with the attempts, one record is made', () => {
  const value = recordWith(7n, { text: 'words', ttl: 10 }, 5);
  const one = counted(undefined, 9n).changed!;
  const both = recordOf(value, one);
  expect(both).toEqual({ ...one, token: 7n, at: 5, until: 15, text: 'words' });
  expect(recordOf(value)).toEqual(value);
  expect(recordOf(undefined, one)).toEqual(one);
});
