import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type SemaphoreOptions } from '../../src/index.ts';

test('a semaphore has from one permit to all demand but one', () => {
  const locks = createLocks(memory());
  const invalid = expect.objectContaining({ code: 'LOCK_INVALID' });
  for (const permits of [1, 2 ** 31 - 2]) locks.semaphore('s', { permits }); // throws nothing
  for (const permits of [0, 2 ** 31 - 1, 1.5]) expect(() => locks.semaphore('s', { permits })).toThrow(invalid);
  expect(() => locks.semaphore('s', undefined as unknown as SemaphoreOptions)).toThrow(invalid);
});
