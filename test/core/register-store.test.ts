/** What a store may answer, and what each answer means: a doubtful answer must never count as a success. */
import { expect, test } from 'vitest';
import { type RegisterEntry, readEntry, type Written, writeOutcome } from '../../src/core/contract/register-store.ts';

const store = { name: 'shop' };
const INVALID = { code: 'LOCK_INVALID' };

test('a write has succeeded where the store says true or gives the new version, and only there', () => {
  expect(writeOutcome(true, store)).toEqual({ taken: true });
  expect(writeOutcome('v2', store)).toEqual({ taken: true, version: 'v2' });
  expect(writeOutcome(false, store)).toEqual({ taken: false });
});

test.each<RegisterEntry>([
  { text: 'theirs', version: 'v1' },
  { text: 'theirs', version: 'v1', now: 5 },
  { text: '', version: '' },
  { text: undefined, version: undefined },
  { text: undefined, version: 'of what was removed', now: 5 },
  {},
])('a write that gives the entry that is there was refused: %j', (found) => {
  expect(writeOutcome(found, store)).toEqual({ taken: false, found });
});

test.each<[unknown, string]>([
  ['', '""'],
  [undefined, 'undefined'],
  [null, 'null'],
  [0, '0'],
  [1, '1'],
  [[], 'an array'],
  [[{ text: 'a', version: 'v1' }], 'an array'],
  [{ text: 'a' }, 'an object'],
  [{ text: 'a', version: 1 }, 'an object'],
  [{ text: 1, version: 'v1' }, 'an object'],
  [{ text: null, version: 'v1' }, 'an object'],
  [{ version: 1 }, 'an object'],
  [{ version: null }, 'an object'],
  [{ rowCount: 0 }, 'an object'],
  [{ rowCount: 0, version: 'v1' }, 'an object'],
  [() => true, 'a function'],
])('a write that answers %j is neither a success nor a refusal, but an error of the store', (answer, shown) => {
  const read = () => writeOutcome(answer as Written, store);
  expect(read).toThrow(expect.objectContaining(INVALID));
  expect(read).toThrow(`write() of the store shop gave ${shown}; it has to give`);
});

test('a read finds nothing where the store gives undefined, as some drivers do null, or an entry without a text', () => {
  expect(readEntry(undefined, store)).toEqual({});
  expect(readEntry(null, store)).toEqual({});
  for (const empty of [{}, { version: 'of what was removed' }, { now: 5 }]) expect(readEntry(empty, store)).toBe(empty);
});

test('a read finds a text and its version, which may both be empty', () => {
  for (const entry of [
    { text: 'ours', version: 'v1' },
    { text: '', version: '', now: 5 },
  ])
    expect(readEntry(entry, store)).toBe(entry);
});

test.each<[unknown, string]>([
  [true, 'true'],
  ['a text', '"a text"'],
  [[], 'an array'],
  [{ text: 'a' }, 'an object'],
  [{ text: 'a', version: 1 }, 'an object'],
  [{ text: 1, version: 'v1' }, 'an object'],
  [{ version: 1 }, 'an object'],
  [{ rows: [] }, 'an object'],
])('a read that answers %j is an error of the store: to find nothing in it would be a guess', (answer, shown) => {
  const read = () => readEntry(answer as RegisterEntry, store);
  expect(read).toThrow(expect.objectContaining(INVALID));
  expect(read).toThrow(`read() of the store shop gave ${shown}; it has to give a text and its version`);
});

/** What a driver may give, which is no row. */
const ANSWERS: Record<string, object> = {
  'a Map': new Map([
    ['text', 'ours'],
    ['version', 'v1'],
  ]),
  'a Set': new Set(['ours']),
  'a Date': new Date(),
  'an Error': new Error('refused'),
  'an empty Buffer': Buffer.alloc(0),
};

test.each(Object.keys(ANSWERS))('a read that gives %s is an error of the store, and not "nothing is there"', (name) => {
  expect(() => readEntry(ANSWERS[name] as never, store)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
});

test.each(Object.keys(ANSWERS))('a write that gives %s is an error of the store, and no refusal', (name) => {
  expect(() => writeOutcome(ANSWERS[name] as never, store)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
});
