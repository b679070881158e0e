import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { invalid, isLockError, LockError, shown } from '../../src/core/contract/errors.ts';

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
