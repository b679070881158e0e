import { describe, expect, test } from 'vitest';
import { storeLaws } from '../../../products/testing/index.ts';
import type { RegisterStore } from '../../../src/backends/register/index.ts';
import { memoryStore, shared } from '../../kit/register-store.ts';

describe('a store in memory keeps the laws of stores', () => {
  for (const tellsTime of [true, false]) {
    const all = shared();
    for (const { name, run } of storeLaws(async () => memoryStore(all, { tellsTime, watches: true, delay: 2 })))
      test(`${name}, ${tellsTime ? 'with' : 'without'} a clock`, run);
  }
});

/** Stores that are wrong in one way each, and what notices. */
const WRONG: Record<string, [wrong: (store: RegisterStore) => void, law: string]> = {
  'that ignores versions': [
    (store) => {
      const { read, write } = store;
      store.write = async (key, text, _, signal) => write(key, text, (await read(key, signal))?.version, signal);
    },
    'a write that wants nothing to be there is taken once',
  ],
  'that forgets what is behind 1,000 characters': [
    (store) => {
      const { write } = store;
      store.write = (key, text, ...rest) => write(key, text.slice(0, 1_000), ...rest);
    },
    'a text comes back as it was: characters of all kinds, 64 kB of them',
  ],
  'that does not tell keys apart by case': [
    (store) => {
      const { read, write } = store;
      store.read = (key, ...rest) => read(key.toLowerCase(), ...rest);
      store.write = (key, ...rest) => write(key.toLowerCase(), ...rest);
    },
    'keys that are alike do not meet',
  ],
};

test.each(Object.entries(WRONG))('a store %s breaks a law of stores', async (_, [wrong, law]) => {
  const all = shared();
  const open = async (): Promise<RegisterStore> => {
    const store = memoryStore(all);
    wrong(store);
    return store;
  };
  const broken = storeLaws(open).find(({ name }) => name === law)!;
  await expect(broken.run()).rejects.toThrow();
});
