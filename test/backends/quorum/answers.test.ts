import { expect, test } from 'vitest';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { createLocks } from '../../../src/index.ts';
import { told } from './nodes.ts';

test.each<[string, object | undefined, RegExp]>([
  ['a number as its token', { granted: true, token: 5, validFor: 30_000 }, /token 5, which is no bigint/],
  ['no time', { granted: true, token: 5n }, /grants for undefined ms/],
  ['no answer', undefined, /no grant and no refusal/],
])('a backend of a user whose grant has %s is refused with the reason, and nothing is left unhandled', async (_, answer, why) => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  try {
    const nodes = [1, 2, 3].map(() => told(memory(), async () => answer));
    await using locks = createLocks(quorum(nodes));
    await expect(locks.mutex('k').tryAcquire()).rejects.toThrow(why);
    await expect(locks.mutex('k').acquire({ wait: '1s' }), 'also later').rejects.toThrow(why);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});
