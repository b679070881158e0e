import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { createLocks } from '../../../src/index.ts';
import { told, unhandledIn } from './nodes.ts';

test.each<[string, object | undefined, RegExp]>([
  ['a number as its token', { granted: true, token: 5, validFor: 30_000 }, /token 5, which is no bigint/],
  ['half a token', { granted: true, token: 5n, tokenCount: 0.5, validFor: 30_000 }, /grants 0.5 tokens/],
  ['no time', { granted: true, token: 5n }, /grants for undefined ms/],
  ['a bigint as its time', { granted: true, token: 5n, validFor: 9n }, /grants for 9n ms/],
  [
    'an object as its signal',
    { granted: true, token: 5n, validFor: 30_000, lost: {} },
    /signal an object, which is no AbortSignal/,
  ],
  ['no answer', undefined, /no grant and no refusal/],
])('a backend of a user whose grant has %s is refused with the reason, and nothing is left unhandled', async (_, answer, why) => {
  const unhandled = await unhandledIn(async () => {
    const nodes = [1, 2, 3].map((i) =>
      around(
        told(memory(), async () => answer),
        { incarnation: () => `run ${i}` },
      ),
    );
    await using locks = createLocks(quorum(nodes));
    await expect(locks.mutex('k').tryAcquire()).rejects.toThrow(why);
    await expect(locks.mutex('k').acquire({ wait: '1s' }), 'also later').rejects.toThrow(why);
  });
  expect(unhandled).toEqual([]);
});
