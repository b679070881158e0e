import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeKey, encodeKey, rootOf } from '../../../src/backends/zookeeper/names.ts';

const keys = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.string({ unit: fc.constantFrom('.', '/', '%', '2', 'E', 'F', '\0', 'é', '😀'), minLength: 1, maxLength: 6 }),
);

test('a key is one segment that ZooKeeper takes, and comes back as it was', () => {
  fc.assert(
    fc.property(keys, (key) => {
      const segment = encodeKey(key);
      expect(segment).toMatch(/^[A-Za-z0-9%_.!~*'()-]+$/);
      expect(segment).not.toMatch(/^\.\.?$/);
      expect(decodeKey(segment)).toBe(key);
    }),
    { numRuns: 1_000 },
  );
});

test.for(['%', '%zz', 'ä', 'a b', '%2f', '.', '..', '%41'])('a node that we never make is nobody’s key: %s', (name) => {
  expect(decodeKey(name)).toBeUndefined();
});

test.for(['holdfast', 'app/locks', 'a.b', '...'])('%s is a prefix', (prefix) => {
  expect(rootOf(prefix)).toBe(`/${prefix}`);
});

test.for([
  '',
  '/',
  '/a',
  'a/',
  'a//b',
  '.',
  '..',
  'a/..',
  'a/./b',
  'zookeeper',
  'zookeeper/x',
  'a b',
  'ä',
  'x'.repeat(300),
])('no prefix leads out of its place: "%s"', (prefix) => {
  expect(() => rootOf(prefix)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
});
