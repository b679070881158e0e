import { describe, expect, test } from 'vitest';
import { storeLaws } from '../../../products/testing/index.ts';
import { type RegisterStore, register, type Written } from '../../../src/backends/register/index.ts';
import { createLocks } from '../../../src/index.ts';
import { memoryStore, type Shared, shared } from '../../kit/register-store.ts';

/** What a driver may give where no row was changed, and TypeScript lets pass as `any`. */
const NO: Readonly<Record<string, unknown>> = {
  undefined: undefined,
  null: null,
  0: 0,
  NaN: Number.NaN,
  'an empty string': '',
  'an empty list': [],
  'a result of a driver': { rowCount: 0, rows: [] },
  'a row with a number as its version': { text: 'x', version: 1 },
};

/** It keeps its conditions, and tells a refusal in its own words. */
function saying(all: Shared, no: unknown, yes: (version: string) => unknown = (version) => version): RegisterStore {
  const store = memoryStore(all);
  return {
    ...store,
    async write(...call) {
      const written = await store.write(...call);
      return (typeof written === 'string' ? yes(written) : no) as Written;
    },
  };
}

const refusal = {
  code: 'LOCK_INVALID',
  message: expect.stringMatching(/write\(\) of the store register/),
};

describe.each(Object.entries(NO))('a store that says %s where it refused a write', (_, no) => {
  test('lets nobody in, and the error names the call', async () => {
    const all = shared();
    const [one, other] = [0, 1].map(() => createLocks(register(saying(all, no))));
    const leases = [];
    for (const locks of [one!, other!]) {
      const got = await locks
        .mutex('k')
        .acquire({ wait: 0 })
        .catch((error: unknown) => error);
      leases.push(got);
    }
    for (const got of leases) expect(got).toMatchObject(refusal);
    await expect(one!.check()).rejects.toMatchObject(refusal);
    for (const locks of [one!, other!]) await locks.close();
  });

  test('breaks a law of stores', async () => {
    const all = shared();
    const laws = storeLaws(async () => saying(all, no));
    const law = laws.find(
      ({ name }) => name === 'a write says whether it was taken, in one of the ways of the contract',
    );
    await expect(law!.run()).rejects.toThrow(/write\(\) of the store register/);
  });
});

test.each([1, { changes: 1 }, ['v1']])('a store that says %j where it took a write lets nobody in', async (yes) => {
  const all = shared();
  await using locks = createLocks(register(saying(all, false, () => yes)));
  await expect(locks.mutex('k').acquire({ wait: 0 })).rejects.toMatchObject(refusal);
});

test.each([
  ['a number as its version', { text: 'x', version: 1 }],
  ['a text without a version', { text: 'x' }],
  ['a row of a driver without a text', { key: 'k', text: null, version: '1' }],
  ['a list', []],
  ['a number', 0],
])('a read that gives %s is LOCK_INVALID, and the error names the call', async (_, entry) => {
  const store: RegisterStore = { ...memoryStore(shared()), read: async () => entry as never };
  await using locks = createLocks(register(store));
  await expect(locks.mutex('k').acquire({ wait: 0 })).rejects.toMatchObject({
    code: 'LOCK_INVALID',
    message: expect.stringMatching(/read\(\) of the store register/),
  });
});

test('a read that gives null means that nothing is there', async () => {
  const store = memoryStore(shared());
  const { read } = store;
  const empty: RegisterStore = {
    ...store,
    read: async (...call) => {
      const entry = await read(...call);
      return entry?.text === undefined ? (null as never) : entry;
    },
  };
  await using locks = createLocks(register(empty));
  expect(await locks.mutex('k').run(({ held }) => held)).toBe(true);
});
