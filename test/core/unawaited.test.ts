import { expect, test } from 'vitest';
import { Unawaited } from '../../src/core/engine/back-pressure.ts';

test('256 releases may be under way without anybody who waits, and another one as soon as one has ended, in whatever way', async () => {
  const unawaited = new Unawaited();
  const ends = Array.from({ length: 256 }, () => Promise.withResolvers<void>());
  expect(ends.map(({ promise }) => unawaited.add(promise))).toEqual(ends.map(() => true));
  expect(unawaited.add(Promise.resolve()), 'one too many').toBe(false);
  ends[0]!.resolve();
  ends[1]!.reject(new Error('cut'));
  await Promise.allSettled([ends[0]!.promise, ends[1]!.promise]);
  const { promise } = Promise.withResolvers<void>();
  expect(
    [1, 2, 3].map(() => unawaited.add(promise)),
    'in the places of two',
  ).toEqual([true, true, false]);
});
