import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type SemaphoreOptions } from '../../src/index.ts';

test('a semaphore has from one permit to all demand but one', () => {
  const locks = createLocks(memory());
  const invalid = expect.objectContaining({ code: 'LOCK_INVALID' });
  for (const permits of [1, 2 ** 31 - 2]) locks.semaphore('s', { permits }); // throws nothing
  for (const permits of [0, 2 ** 31 - 1, 1.5]) expect(() => locks.semaphore('s', { permits })).toThrow(invalid);
  expect(() => locks.semaphore('s', undefined as unknown as SemaphoreOptions)).toThrow(invalid);
});

test.each([
  true,
  false,
])('an engine that cannot count permits says so, and names other programs only where these have permits (%s)', (hasStrangers) => {
  const engine = memory();
  const exclusive = around(engine, { traits: { ...engine.traits, units: 'exclusive', hasStrangers } });
  const why = hasStrangers ? ': other programs have them without leases, or by clocks of clients; use' : '; use';
  expect(() => createLocks(exclusive).semaphore('key', { permits: 2 })).toThrow(
    expect.objectContaining({
      code: 'LOCK_UNSUPPORTED',
      key: 'key',
      message: expect.stringContaining(`cannot count permits${why} mutex()`),
    }),
  );
});
