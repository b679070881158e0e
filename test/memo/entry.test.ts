/** What is stored, as text: what another version of the library finds there. */
import { describe, expect, test } from 'vitest';
import { RefusedValue } from '../../src/memo/encoding.ts';
import {
  ageOf,
  encoded,
  errorBody,
  errorOf,
  type Kind,
  opened,
  readStored,
  unkeepable,
  unkeptBody,
  writeEntry,
} from '../../src/memo/entry.ts';
import { stateOf } from '../../src/memo/state.ts';

const seal = {
  seal: (text: string) => [...text].reverse().join(''),
  open: (text: string) => [...text].reverse().join(''),
};
const AT = { key: 'key', backend: 'memory' };
const PLAIN = { ...AT, match: '-', seal: undefined };
const SEALED = { ...PLAIN, seal };
const readEntry = (text: string, plan: Parameters<typeof opened>[0]) => opened(plan, readStored(text, plan.key));

describe.each(['kept', 'failed', 'poisoned', 'unkept'] satisfies Kind[])('an entry that is %s', (kind) => {
  test('is read as it was written, whatever is in it', () => {
    for (const body of ['', 'a b', '1 kept plain - x', 'two\nlines']) {
      const text = writeEntry({ kind, match: 'mark', body }, undefined);
      expect(text).toBe(`1 ${kind} plain mark ${body}`);
      expect(readEntry(text, PLAIN)).toMatchObject({ kind, match: 'mark', body });
    }
  });

  test('is sealed where there is a seal', () => {
    const text = writeEntry({ kind, match: '-', body: 'abc' }, seal);
    expect(text).toBe(`1 ${kind} sealed - cba`);
    expect(readEntry(text, SEALED)).toMatchObject({ kind, match: '-', body: 'abc' });
  });

  test('has the state of its kind', () => {
    expect(stateOf(`1 ${kind} plain - x`)).toBe(kind === 'unkept' ? 'failed' : kind);
    expect(stateOf(`22 ${kind} plain - x`)).toBe(kind === 'unkept' ? 'failed' : kind);
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

test('only the head of a text says its state', () => {
  expect(stateOf('1 kept plain - 1 failed ')).toBe('kept');
  expect(stateOf('x 1 failed ')).toBe('kept');
  expect(stateOf('1 failed')).toBe('kept');
});

test('a sealed value without a seal, or with one that does not open it, is refused', () => {
  const text = writeEntry({ kind: 'kept', match: '-', body: 'abc' }, seal);
  expect(() => readEntry(text, PLAIN)).toThrow(
    expect.objectContaining({ code: 'LOCK_INVALID', key: 'key', message: expect.stringContaining('has no seal') }),
  );
  const throws = {
    ...seal,
    open: () => {
      throw new Error('another cipher');
    },
  };
  const wrong = { ...seal, open: () => 1 as never };
  expect(() => readEntry(text, { ...PLAIN, seal: throws })).toThrow(
    expect.objectContaining({ code: 'LOCK_INVALID', message: expect.stringContaining('seal.open() threw') }),
  );
  expect(() => readEntry(text, { ...PLAIN, seal: wrong })).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
  const none = { ...seal, seal: () => undefined as never };
  expect(() => writeEntry({ kind: 'kept', match: '-', body: '' }, none)).toThrow('gave no well-formed text');
});

test('a text that is none, or not well-formed, is no value', () => {
  expect(encoded({ encode: () => 'text' }, 1)).toBe('text');
  for (const bad of [1, undefined, '\uD800'])
    expect(() => encoded({ encode: () => bad as string }, 1)).toThrow(TypeError);
});

describe('an error', () => {
  const kept = (thrown: unknown) => JSON.parse(errorBody(thrown, { by: 'p1', ttl: 5 })) as Record<string, unknown>;

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
    const long = 'a'.repeat(999);
    expect(kept(new Error(`${long}bc`)).message).toBe(`${long}b`);
    expect(kept(new Error(`${long}\u{1F600}`)).message, 'well-formed').toBe(`${long}\uFFFD`);
  });

  test('is told to others with what was thrown as its cause', () => {
    const body = errorBody(Object.assign(new TypeError('no'), { code: 'E' }), { by: 'p1', ttl: 5 });
    const [failed, poisoned] = (['failed', 'poisoned'] as const).map((kind) => errorOf({ kind, match: '-', body }, AT));
    const cause = expect.objectContaining({ name: 'TypeError', message: 'no', code: 'E' });
    expect(failed).toMatchObject({ code: 'LOCK_FAILED', key: 'key', backend: 'memory', cause });
    expect(failed!.message).toContain('was run by p1 and failed: no');
    expect(poisoned).toMatchObject({ code: 'LOCK_POISONED', key: 'key', backend: 'memory', cause });
    expect(poisoned!.message).toContain('last by p1: no');
    const bare = errorOf({ kind: 'failed', match: '-', body: errorBody(new Error('no'), { by: 'p', ttl: 1 }) }, AT);
    expect(Object.hasOwn(bare.cause as object, 'code')).toBe(false);
  });

  test('that is not as it was written, since a seal opened it wrongly, is refused without its text', () => {
    const broken = { kind: 'failed', match: '-', body: 'a secret' } as const;
    const refusal = expect.objectContaining({
      code: 'LOCK_INVALID',
      key: 'key',
      message: expect.not.stringContaining('secret'),
    });
    expect(() => errorOf(broken, AT)).toThrow(refusal);
    expect(() => ageOf(broken, { text: '', token: 1n, age: 0, validFor: 1 }, 'key')).toThrow(refusal);
  });

  test('that stands for a value tells why it could not be kept', () => {
    const of = (refused: RefusedValue, sealed = false) =>
      errorOf({ kind: 'unkept', match: '-', body: unkeptBody(refused, sealed) }, AT);
    const message = expect.stringContaining('too long. It is not run again');
    expect(of(new RefusedValue('too long', undefined, 'LOCK_TOO_LARGE'))).toMatchObject({
      ...{ code: 'LOCK_TOO_LARGE', key: 'key', backend: 'memory', message },
    });
    expect(of(new RefusedValue('is a function', 'value.name'))).toMatchObject({
      code: 'LOCK_INVALID',
      message: expect.stringContaining('could not be kept: value.name is a function.'),
    });
    expect(of(new RefusedValue('is a function', 'value.name'), true).message).toContain(
      ': a part of it is a function.',
    );
    const newer = { kind: 'unkept', match: '-', body: 'LOCK_NEWER it is new' } as const;
    expect(errorOf(newer, AT), 'a code of a newer version').toMatchObject({ code: 'LOCK_INVALID' });
    expect(unkeptBody(new RefusedValue('too long'), true)).toBe('LOCK_INVALID too long');
    expect(unkeptBody(new RefusedValue('is a function', `value.${'x'.repeat(70_000)}`), false)).toHaveLength(1_013);
  });
});

test('a value that cannot be kept beside the data of its user is told with its key, and why', () => {
  expect(unkeepable('order:42', new RefusedValue('is a function', 'value.name'))).toMatchObject({
    code: 'LOCK_INVALID',
    key: 'order:42',
    message: 'the result of "order:42" cannot be kept: value.name is a function',
  });
});
