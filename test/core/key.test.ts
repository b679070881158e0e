import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LOOKALIKES } from '../../products/testing/laws/keys.ts';
import { isLockError } from '../../src/core/contract/errors.ts';
import { checkKey, checkPrefix, MAX_KEY_BYTES } from '../../src/core/contract/options.ts';

const refusal = (check: () => unknown): unknown => {
  try {
    return check();
  } catch (error) {
    return error;
  }
};

describe('checkKey', () => {
  test('takes any well-formed text of 1 to 512 bytes as it is, and refuses all else', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.anything(), fc.string({ maxLength: 600 })),
        (key) => {
          const fine =
            typeof key === 'string' && key !== '' && key.isWellFormed() && Buffer.byteLength(key) <= MAX_KEY_BYTES;
          const answer = refusal(() => checkKey(key));
          if (fine) expect(answer).toBe(key);
          else expect(isLockError(answer, 'LOCK_INVALID')).toBe(true);
        },
      ),
    );
  });

  test('allows as many bytes as the reference says', () => {
    expect(checkKey('k'.repeat(512))).toHaveLength(512);
    expect(() => checkKey('k'.repeat(513))).toThrow('at most 512 are allowed');
  });

  test.each(['k', 'é', '漢', '🔒'])('counts bytes, not characters: %s up to the bound and not beyond', (character) => {
    const longest = character.repeat(Math.floor(MAX_KEY_BYTES / Buffer.byteLength(character)));
    expect(checkKey(longest)).toBe(longest);
    expect(() => checkKey(longest + character)).toThrow(`at most ${MAX_KEY_BYTES} are allowed`);
  });

  test('refuses lone surrogates, which would become one key on the wire', () => {
    for (const key of ['\ud800', 'a\udfff', '\udc00\ud800']) {
      expect(
        isLockError(
          refusal(() => checkKey(key)),
          'LOCK_INVALID',
        ),
      ).toBe(true);
    }
  });

  test('takes every key of the conformance suite, and no two of a kind are the same', () => {
    for (const keys of Object.values(LOOKALIKES)) {
      expect(new Set(keys.map((key) => checkKey(key))).size).toBe(keys.length);
    }
  });

  test('says what is wrong with a key, and calls it what its caller calls it', () => {
    expect(() => checkKey('')).toThrow(/^a key must not be empty$/);
    expect(() => checkKey(5)).toThrow(/^a key must be a string, not 5$/);
    expect(() => checkKey('x'.repeat(513), 'group')).toThrow(/^the group "x+…" has 513 bytes; /);
    expect(() => checkKey('\ud800', 'name')).toThrow(/^the name "\\ud800" is not well-formed/);
  });

  test('never shows a long key in full', () => {
    expect((refusal(() => checkKey('k'.repeat(10_000))) as Error).message.length).toBeLessThan(200);
  });
});

describe('checkPrefix', () => {
  test('takes what is short and plain as it is, and nothing else', () => {
    expect(['holdfast', 'a:b_c.D-9', 'x'.repeat(64)].map((prefix) => checkPrefix(prefix))).toEqual([
      'holdfast',
      'a:b_c.D-9',
      'x'.repeat(64),
    ]);
    for (const wrong of ['', 'a b', 'ä', '{a}', 'x'.repeat(65), 5, undefined, ['holdfast']])
      expect(() => checkPrefix(wrong)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
  });

  test('takes plain names and nothing that could leave the namespace', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[A-Za-z0-9_.:-]{0,70}$/), fc.anything()), (prefix) => {
        const answer = refusal(() => checkPrefix(prefix));
        if (typeof answer === 'string') expect(answer).toMatch(/^[A-Za-z0-9_.:-]{1,64}$/);
        else expect(isLockError(answer, 'LOCK_INVALID')).toBe(true);
      }),
    );
  });

  test.each(['', 'a/b', 'a b', 'a\n', 'a*', 'é', 'x'.repeat(65), null, undefined, 7])('refuses %j', (prefix) => {
    expect(
      isLockError(
        refusal(() => checkPrefix(prefix)),
        'LOCK_INVALID',
      ),
    ).toBe(true);
  });
});
