import { expect, test } from 'vitest';
import { ofAllCopies } from '../../src/core/contract/all-copies.ts';

test('what has a name is made once for all copies of the package, and another name is another thing', async () => {
  const one = ofAllCopies('a test', () => ({ made: 'first' }));
  const copy = (await import('../../src/core/contract/all-copies.ts?copy' as string)) as {
    ofAllCopies: typeof ofAllCopies;
  };
  expect(copy.ofAllCopies, 'a copy of its own').not.toBe(ofAllCopies);
  expect(copy.ofAllCopies('a test', () => ({ made: 'second' }))).toBe(one);
  expect(ofAllCopies('another test', () => ({ made: 'third' }))).toEqual({ made: 'third' });
});

test('a copy of another version finds what is made for all under the names that there have been', () => {
  const one = ofAllCopies('a test of names', () => ({}));
  expect((globalThis as { [name: symbol]: unknown })[Symbol.for('holdfast.a test of names')]).toBe(one);
});
