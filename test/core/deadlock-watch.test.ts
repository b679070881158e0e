import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { memory } from '../../src/backends/memory.ts';
import { checkWaitersListed } from '../../src/core/contract/options.ts';
import { createLocks } from '../../src/index.ts';

const backend = memory();
const checked = (calls: Partial<typeof backend>, key?: string) => () =>
  checkWaitersListed(around(backend, calls), 'leave detect out', key);

test('an engine that cannot list who waits says so, and what to do instead', () => {
  expect(checked({})).not.toThrow();
  expect(checked({ inspect: undefined })).toThrow(
    expect.objectContaining({
      code: 'LOCK_UNSUPPORTED',
      backend: 'memory',
      message: '"memory" cannot list who holds and who waits; leave detect out',
    }),
  );
  const unfair = { traits: { ...backend.traits, fair: false } };
  expect(checked(unfair, 'order:42')).toThrow(
    expect.objectContaining({
      key: 'order:42',
      message: '"memory" keeps no queue, so it cannot list who waits; leave detect out',
    }),
  );
  expect(checked(unfair)).toThrow(expect.not.objectContaining({ key: expect.anything() }));
});

test('a lock looks for deadlocks only where waiters can be listed: it refuses when it is made, and when a call asks for it', async () => {
  const locks = createLocks(around(backend, { inspect: undefined }));
  const refused = expect.objectContaining({ code: 'LOCK_UNSUPPORTED', key: 'key' });
  expect(() => locks.mutex('key', { detect: true })).toThrow(refused);
  const mutex = locks.mutex('key');
  await expect(mutex.acquire({ detect: true })).rejects.toEqual(refused);
  for (const options of [undefined, {}, { wait: 100 }]) {
    const lease = await mutex.acquire(options);
    expect(await lease.release(), 'who does not ask for it has the lock').toBe(true);
  }
});
