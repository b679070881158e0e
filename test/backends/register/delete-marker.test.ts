import { expect, test } from 'vitest';
import { register } from '../../../src/backends/register/index.ts';
import { createLocks } from '../../../src/index.ts';
import { memoryStore, shared } from '../../kit/register-store.ts';

test('a store that shows nothing and refuses to make it, as over a delete marker, is told as what it is', async () => {
  const store = memoryStore(shared());
  const { write } = store;
  store.write = async (key, text, ifVersion, signal) =>
    key.endsWith('/l/k') && ifVersion === undefined ? false : write(key, text, ifVersion, signal);
  await using locks = createLocks(register(store));
  await expect(locks.mutex('k').acquire({ wait: 0 })).rejects.toMatchObject({
    code: 'LOCK_UNAVAILABLE',
    message: expect.stringMatching(/shows nothing there.*delete marker.*without versioning/),
  });
  await locks.mutex('other').run(() => {});
});
