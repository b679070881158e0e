/** The names under which engines store keys: whatever a key is, it has a name of its own, and a listing finds it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hintKey, isHint, type NameRange, rangeFrom, StoredNames } from '../../../src/backends/shared/names.ts';

const key = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('a', 'a/', 'a\0', 'ä', 'a\u{10FFFF}', '', '\u{10000}', '\u{10001}', '\u{10FFFF}'),
);
const prefix = fc.constantFrom('holdfast', 'a', 'ä/ß');
const isIn = ({ from, to }: NameRange, name: Buffer): boolean =>
  Buffer.compare(from, name) <= 0 && Buffer.compare(name, to) < 0;

test('the range of a beginning has the names that begin so, and no others', () => {
  fc.assert(
    fc.property(key, key, prefix, (start, name, prefix) => {
      expect(isIn(rangeFrom(start), Buffer.from(name))).toBe(name.startsWith(start));
      expect(isIn(rangeFrom(start), Buffer.from(start + name))).toBe(true);
      const names = new StoredNames(prefix);
      expect(isIn(names.range(start), names.of(name))).toBe(name.startsWith(start));
      expect(isIn(names.range(start), names.of(start + name))).toBe(true);
    }),
  );
});

test('the range of one key has that key alone', () => {
  fc.assert(
    fc.property(key, key, prefix, (key, more, prefix) => {
      const names = new StoredNames(prefix);
      for (const name of [key, key + more, `${key}\0`, `${key}\0${more}`])
        expect(isIn(rangeFrom(key, true), Buffer.from(name))).toBe(name === key);
      expect(isIn(names.range(key, true), names.of(key + more))).toBe(more === '');
    }),
  );
});

test('the key of a name is the one that it was made of', () => {
  fc.assert(
    fc.property(key, prefix, (key, prefix) => {
      const names = new StoredNames(prefix);
      expect(names.keyOf(names.of(key))).toBe(key);
    }),
  );
});

test('a hint is known by its key, has a name of its own, and is in no listing of keys', () => {
  const names = new StoredNames('holdfast');
  for (const name of ['', 'a', 'a/b']) {
    const hint = hintKey(name);
    expect([isHint(hint), isHint(name)]).toEqual([true, false]);
    expect(names.of(hint).toString()).toBe(`!holdfast/${name}`);
    expect(isIn(names.range(''), names.of(hint))).toBe(false);
  }
});

test('no key of a lock is taken for a hint, whichever character it begins with', () => {
  for (const first of ['\u{10000}', '\u{103FF}', '\u{10FFFF}', '\uFFFF', '\uE000', '\0'])
    expect(isHint(`${first}a`), JSON.stringify(first)).toBe(false);
});
