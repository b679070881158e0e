/** The words that are kept, as text: what another version of the library finds there. */
import { describe, expect, test } from 'vitest';
import { LockError } from '../../src/index.ts';
import { stateOf } from '../../src/memo/state.ts';
import { encoded } from '../../src/memo/value.ts';
import {
  aged,
  errorBody,
  errorOf,
  type Kind,
  opened,
  readStored,
  unkeptBody,
  writeEntry,
} from '../../src/memo/words.ts';

const seal = {
  seal: (text: string) => [...text].reverse().join(''),
  open: (text: string) => [...text].reverse().join(''),
};
const readEntry = (text: string, plan: Parameters<typeof opened>[1]) => opened(readStored(text, plan.key), plan);
const PLAIN = { key: 'key', seal: undefined };

describe.each(['kept', 'failed', 'poisoned', 'unkept'] satisfies Kind[])('an entry that is %s', (kind) => {
  test('is read as it was written, whatever is in it', () => {
    for (const body of ['', 'a b', '1 kept plain - x', 'two\nlines']) {
      const text = writeEntry({ kind, match: 'mark', body }, { seal: undefined });
      expect(text).toBe(`1 ${kind} plain mark ${body}`);
      expect(readEntry(text, PLAIN)).toMatchObject({ kind, match: 'mark', body });
    }
  });

  test('is sealed where there is a seal, unless it is only a mark', () => {
    const text = writeEntry({ kind, match: '-', body: 'abc' }, { seal });
    expect(text).toBe(kind === 'unkept' ? '1 unkept plain - abc' : `1 ${kind} sealed - cba`);
    expect(readEntry(text, { key: 'key', seal })).toMatchObject({ kind, match: '-', body: 'abc' });
  });

  test('has the state of its kind', () => {
    expect(stateOf(`1 ${kind} plain - x`)).toBe(kind === 'unkept' ? 'kept' : kind);
    expect(stateOf(`22 ${kind} plain - x`)).toBe(kind === 'unkept' ? 'kept' : kind);
  });
});

test.each([
  ['2 kept plain - x', 'has the format of a newer version'],
  ['2 something else', 'has the format of a newer version'],
  ['11 kept plain - x', 'has the format of a newer version'],
  ['1 lost plain - x', 'has the format of a newer version'],
  ['a 1 kept plain - x', 'is broken'],
  ['', 'is broken'],
  ['nonsense', 'is broken'],
])('%j is refused, and not run again', (text, why) => {
  expect(() => readEntry(text, PLAIN)).toThrow(
    expect.objectContaining({ code: 'LOCK_INVALID', key: 'key', message: expect.stringContaining(why) }),
  );
});

test('only the head of words tells their state', () => {
  expect(stateOf('1 kept plain - 1 failed ')).toBe('kept');
  expect(stateOf('x 1 failed ')).toBe('kept');
  expect(stateOf('1 failed')).toBe('kept');
});

test('sealed words without a seal, or with one that does not open them, are refused', () => {
  const text = writeEntry({ kind: 'kept', match: '-', body: 'abc' }, { seal });
  expect(() => readEntry(text, PLAIN)).toThrow(
    expect.objectContaining({ code: 'LOCK_INVALID', key: 'key', message: expect.stringContaining('has no seal') }),
  );
  const cause = new Error('another cipher');
  const throws = {
    ...seal,
    open: () => {
      throw cause;
    },
  };
  const wrong = { ...seal, open: () => 1 as never };
  expect(() => readEntry(text, { key: 'key', seal: throws })).toThrow(
    expect.objectContaining({ code: 'LOCK_INVALID', cause, message: expect.stringContaining('seal.open()') }),
  );
  expect(() => readEntry(text, { key: 'key', seal: wrong })).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
  const none = { ...seal, seal: () => undefined as never };
  expect(() => writeEntry({ kind: 'kept', match: '-', body: '' }, { seal: none })).toThrow('gave no text');
});

test('a text that is none, or not well-formed, is no value', () => {
  expect(encoded({ encode: () => 'text' }, 1)).toBe('text');
  for (const bad of [1, undefined, '\uD800'])
    expect(() => encoded({ encode: () => bad as string }, 1)).toThrow(TypeError);
});

test('words age, until they are over', () => {
  const left = { text: 'x', ticket: 7n, age: 5, validFor: 10 };
  expect(aged(left, 0)).toEqual(left);
  expect(aged(left, 9)).toEqual({ text: 'x', ticket: 7n, age: 14, validFor: 1 });
  expect(aged(left, 10)).toBeUndefined();
});

describe('an error', () => {
  const kept = (thrown: unknown, longest = 99) =>
    JSON.parse(errorBody(thrown, { by: 'p1', ttl: 5 }, longest)) as Record<string, unknown>;

  test('is kept by its name, its message and its code, and by whom', () => {
    expect(kept(Object.assign(new TypeError('no'), { code: 'E' }))).toEqual({
      name: 'TypeError',
      message: 'no',
      code: 'E',
      by: 'p1',
      ttl: 5,
    });
    expect(kept(Object.assign(new Error('no'), { code: 5 }))).toEqual({
      name: 'Error',
      message: 'no',
      by: 'p1',
      ttl: 5,
    });
    expect(kept('text')).toMatchObject({ name: 'Error', message: 'text' });
    expect(kept(new Error('abcdef'), 3).message).toBe('abc');
    expect(kept(new Error('ab\u{1F600}'), 3).message, 'well-formed').toBe('ab\uFFFD');
  });

  test('is told to others with what was thrown as its cause', () => {
    const body = errorBody(Object.assign(new TypeError('no'), { code: 'E' }), { by: 'p1', ttl: 5 }, 99);
    const [failed, poisoned] = (['failed', 'poisoned'] as const).map((kind) =>
      errorOf({ kind, match: '-', body }, 'key', 'memory'),
    );
    const cause = expect.objectContaining({ name: 'TypeError', message: 'no', code: 'E' });
    expect(failed).toMatchObject({ code: 'LOCK_FAILED', key: 'key', backend: 'memory', cause });
    expect(failed!.message).toContain('was run by p1 and failed: no');
    expect(poisoned).toMatchObject({ code: 'LOCK_POISONED', key: 'key', backend: 'memory', cause });
    expect(poisoned!.message).toContain('last by p1: no');
    const bare = errorOf(
      { kind: 'failed', match: '-', body: errorBody(new Error('no'), { by: 'p', ttl: 1 }, 9) },
      'k',
      'b',
    );
    expect(Object.hasOwn(bare.cause as object, 'code')).toBe(false);
  });

  test('that stands for a value tells why it could not be kept', () => {
    const of = (thrown: unknown) => errorOf({ kind: 'unkept', match: '-', body: unkeptBody(thrown) }, 'key', 'memory');
    expect(of(new LockError('LOCK_TOO_LARGE', 'too long', {}))).toMatchObject({
      code: 'LOCK_TOO_LARGE',
      key: 'key',
      backend: 'memory',
      message: expect.stringContaining('too long. It is not run again'),
    });
    expect(of(new LockError('LOCK_LOST', 'gone', {}))).toMatchObject({ code: 'LOCK_INVALID' });
    expect(of(new Error('a reason of more words'))).toMatchObject({
      code: 'LOCK_INVALID',
      message: expect.stringContaining('could not be kept: a reason of more words.'),
    });
  });
});
