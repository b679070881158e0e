import { expect, test } from 'vitest';
import { register } from '../../../src/backends/register/index.ts';
import { createLocks } from '../../../src/index.ts';
import { memoryStore, shared } from '../../kit/register-store.ts';

/** Refused writes until each of `callers` in each of `processes` has had the key once. */
async function conflictsOf(processes: number, callers: number): Promise<number> {
  const all = shared();
  let conflicts = 0;
  const crowd = Array.from({ length: processes }, () => {
    const store = memoryStore(all, { delay: 4 });
    const { write } = store;
    store.write = async (...call) => {
      const written = await write(...call);
      if (written === false) conflicts++;
      return written;
    };
    return createLocks(register(store), { spin: { pause: 20, bound: 200 } });
  });
  let served = 0;
  await Promise.all(
    crowd.flatMap((locks) => Array.from({ length: callers }, () => locks.mutex('hot').run(() => served++))),
  );
  await Promise.all(crowd.map((locks) => locks.close()));
  expect(served).toBe(processes * callers);
  return conflicts;
}

test('conflicts grow with processes, and not with the callers in them', { timeout: 60_000 }, async () => {
  const [few, many] = [await conflictsOf(5, 1), await conflictsOf(5, 10)];
  // Each process proves the store first, where they meet, too.
  expect(many, `${few} with one caller in each of five processes`).toBeLessThanOrEqual(2 * few + 20);
});
