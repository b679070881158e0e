import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  counted,
  inMs,
  invalid,
  isLockError,
  LockError,
  quoted,
  reasonOf,
  shown,
} from '../../src/core/contract/errors.ts';

describe('LockError', () => {
  test('carries its code, key, backend and cause', () => {
    const cause = new Error('connection refused');
    const error = new LockError('LOCK_UNAVAILABLE', 'no answer', { key: 'order:42', backend: 'redis', cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'LockError',
      code: 'LOCK_UNAVAILABLE',
      message: 'no answer',
      key: 'order:42',
      backend: 'redis',
      cause,
    });
  });

  test('has no empty details, nor anything else to print beside those it has', () => {
    const error = new LockError('LOCK_CLOSED', 'closed');
    expect(['cause', 'key', 'backend'].filter((name) => name in error)).toEqual([]);
    expect(inspect(error)).toMatch(/\{\n {2}code: 'LOCK_CLOSED'\n\}$/);
  });
});

describe('isLockError', () => {
  test('knows the error of another copy of the package, where instanceof does not', async () => {
    const copy: typeof import('../../src/core/contract/errors.ts') = await import(
      // @ts-expect-error a query makes it another module
      '../../src/core/contract/errors.ts?copy'
    );
    const foreign = new copy.LockError('LOCK_LOST', 'lost');
    expect(foreign).not.toBeInstanceOf(LockError);
    expect(isLockError(foreign)).toBe(true);
    expect(isLockError(foreign, 'LOCK_LOST')).toBe(true);
    expect(isLockError(foreign, 'LOCK_TIMEOUT')).toBe(false);
  });

  test('knows that of any version, by a mark that never changes', () => {
    expect(isLockError({ [Symbol.for('holdfast.LockError')]: true, code: 'LOCK_LOST' }, 'LOCK_LOST')).toBe(true);
  });

  test('takes nothing else for one, and never throws', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (value) => {
        expect(isLockError(value)).toBe(false);
      }),
    );
    expect(isLockError(Object.assign(new Error('no'), { code: 'LOCK_LOST', name: 'LockError' }))).toBe(false);
    expect(isLockError(invalid('bad'), 'LOCK_INVALID')).toBe(true);
  });
});

describe('shown', () => {
  test('is short, on one line, whatever it is given', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything({ withBigInt: true }), fc.string({ unit: 'binary', maxLength: 500 })),
        (value) => {
          const text = shown(value);
          expect(text).not.toMatch(/[\n\r\0]/);
          if (typeof value === 'string') expect(text.length).toBeLessThan(500);
        },
      ),
    );
  });

  test('says what a value is', () => {
    const values = [5, 5n, true, null, undefined, [1], { a: 1 }, () => {}, Symbol('a'), 'a "b"'];
    expect(values.map(shown)).toEqual([
      '5',
      '5n',
      'true',
      'null',
      'undefined',
      'an array',
      'an object',
      'a function',
      'a symbol',
      '"a \\"b\\""',
    ]);
    expect(shown('a'.repeat(80))).toBe(`"${'a'.repeat(80)}"`);
    expect(shown('b'.repeat(81))).toBe(`"${'b'.repeat(77)}…"`);
  });

  test('never shows what is inside an object', () => {
    expect(shown({ password: 'secret' })).toBe('an object');
    expect(shown(['secret'])).toBe('an array');
    expect(shown(() => 'secret')).toBe('a function');
  });
});

test('an error has the outcome of what ran meanwhile where there is one, and else no such property', () => {
  const outcome = { status: 'fulfilled', value: 1 } as const;
  expect(new LockError('LOCK_LOST', 'lost', { outcome }).outcome).toBe(outcome);
  expect('outcome' in new LockError('LOCK_LOST', 'lost')).toBe(false);
  expect('key' in invalid('bad')).toBe(false);
  expect(invalid('bad', 'k')).toMatchObject({ code: 'LOCK_INVALID', key: 'k' });
});

test('how many there are is said in the singular for one, and with a comma in the thousands', () => {
  expect([0, 1, 2, 1_200].map((count) => counted(count, 'hold'))).toEqual([
    '0 holds',
    '1 hold',
    '2 holds',
    '1,200 holds',
  ]);
  expect([1, 2].map((count) => counted(count, 'statement waits', 'statements wait'))).toEqual([
    '1 statement waits',
    '2 statements wait',
  ]);
});

test('a time is said in whole ms, or as it is below one', () => {
  expect([0, 0.5, 1, 1.4, 99.6].map(inMs)).toEqual(['0 ms', '0.5 ms', '1 ms', '1 ms', '100 ms']);
});

test('the reason of whatever was thrown stands in the middle of a sentence', () => {
  expect([new Error('cut off. '), new TypeError('no'), 'refused.\n', 5, undefined].map(reasonOf)).toEqual([
    'cut off',
    'no',
    'refused',
    '5',
    'undefined',
  ]);
});

test('a name of up to 80 characters is quoted whole, and a longer one by its beginning', () => {
  expect(quoted('a"b\n')).toBe('"a\\"b\\n"');
  expect(quoted('x'.repeat(80))).toBe(`"${'x'.repeat(80)}"`);
  expect(quoted(`a${'x'.repeat(80)}`)).toBe(`"a${'x'.repeat(76)}…"`);
});
