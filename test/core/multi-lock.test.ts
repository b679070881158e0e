import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';
import { meanwhile } from '../../src/testing/meanwhile.ts';
import { until } from '../kit/wait.ts';

test('locks that are several themselves are taken part by part, in the one order of all keys', async () => {
  const backend = memory();
  const [locks, others] = [createLocks(backend), createLocks(backend)];
  const middle = await others.mutex('b').acquire();
  const waiting = meanwhile(locks.all([locks.all(['a', 'z']), 'b']).acquire());
  await until('the first key is taken', async () => {
    const probe = await others.mutex('a').tryAcquire();
    await probe?.release();
    return probe === null;
  });
  await new Promise((resolve) => setImmediate(resolve));
  const last = await others.mutex('z').tryAcquire();
  expect(last, 'who waits for b must not have z, or whoever has z and wants b next waits for ever').not.toBeNull();
  await last!.release();
  await middle.release();
  const lease = await waiting;
  expect([...lease.tokens.keys()]).toEqual(['a', 'b', 'z']);
  expect(await lease.release()).toBe(true);
});

test('a key that comes twice is refused, however deep it stands', () => {
  const locks = createLocks(memory());
  expect(() => locks.all(['a', locks.all([locks.all(['b', 'a']), 'c'])])).toThrow(/"a" twice/);
});
