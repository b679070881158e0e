import { expect, test } from 'vitest';
import { register } from '../../../src/backends/register/index.ts';
import { createLocks } from '../../../src/index.ts';
import { memoryStore, type Shared, shared } from '../../kit/register-store.ts';

/** Stores that say yes where they should say no. */
const LIES: Record<string, (all: Shared) => (key: string, ifVersion: string | undefined) => string | undefined> = {
  'over a version that was gone': (all) => (key, ifVersion) =>
    ifVersion === undefined ? undefined : all.entries.get(key)?.version,
  'over something that was there': (all) => (key, ifVersion) =>
    ifVersion === undefined ? all.entries.get(key)?.version : ifVersion,
};

test.each(Object.entries(LIES))('a store that writes %s is refused before a lock is taken', async (lie, taken) => {
  const all = shared();
  const store = memoryStore(all);
  const { write } = store;
  const lying = taken(all);
  store.write = (key, text, ifVersion, signal) => write(key, text, lying(key, ifVersion), signal);
  const backend = register(store);
  expect(await backend.check!()).toEqual([
    expect.objectContaining({ severity: 'danger', code: 'no-compare-and-set', message: expect.stringContaining(lie) }),
  ]);
  await using locks = createLocks(backend);
  await expect(locks.mutex('k').acquire({ wait: 0 })).rejects.toMatchObject({
    code: 'LOCK_UNSUPPORTED',
    message: expect.stringContaining(lie),
  });
  expect([...all.entries.keys()]).toEqual(['holdfast/proof']);
});

test('many that prove one store at the same time find it good', async () => {
  const all = shared();
  const backends = Array.from({ length: 8 }, () => register(memoryStore(all, { delay: 4 })));
  expect((await Promise.all(backends.map((backend) => backend.check!()))).flat()).toEqual([]);
});
