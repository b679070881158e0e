import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { type RegisterStore, register } from '../../../src/backends/register/index.ts';
import { createLocks } from '../../../src/index.ts';
import { memoryStore, type Shared, shared } from '../../kit/register-store.ts';
import { claim } from './claim.ts';

/** Stores that say yes where they should say no, and to which of their writes. */
const LIES: Record<string, (ifVersion: string | undefined) => boolean> = {
  'over a version that was gone': (ifVersion) => ifVersion !== undefined,
  'over something that was there': (ifVersion) => ifVersion === undefined,
};

test.each(Object.entries(LIES))('a store that writes %s is refused before a lock is taken', async (lie, lies) => {
  const all = shared();
  const store = memoryStore(all);
  const { write } = store;
  let writes = 0;
  store.write = async (key, text, ifVersion, signal) => {
    if (!lies(ifVersion)) return write(key, text, ifVersion, signal);
    all.entries.set(key, { text, version: `w${++writes}` });
    return `w${writes}`;
  };
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

/** It checks in one step and writes in the next: what it makes, or also what it changes. */
function inTwoSteps(all: Shared, gap: 'make' | 'change', imitated: boolean): RegisterStore {
  const store = memoryStore(all);
  let writes = 0;
  return {
    ...store,
    imitated,
    async write(key, text, ifVersion, signal) {
      if ((gap === 'make') !== (ifVersion === undefined)) return store.write(key, text, ifVersion, signal);
      if ((await store.read(key, signal))?.version !== ifVersion) return false;
      all.entries.set(key, { text, version: `w${++writes}` });
      return `w${writes}`;
    },
  };
}

test('two writes of one version are sent at the same time, so a store with a gap between check and write is refused', async () => {
  const backend = register(inTwoSteps(shared(), 'change', false));
  expect(await backend.check!()).toMatchObject([{ message: expect.stringContaining('over a version') }]);
});

test('where a store is imitated, one that lets two make an object at the same time is refused before a lock is taken', async () => {
  const all = shared();
  await using locks = createLocks(register(inTwoSteps(all, 'make', true)));
  for (let time = 0; time < 2; time++) {
    await expect(locks.mutex('k').acquire({ wait: 0 })).rejects.toMatchObject({
      code: 'LOCK_UNSUPPORTED',
      message: expect.stringContaining('over one that was under way'),
    });
  }
  expect([...all.entries.keys()], 'what the races made is removed').toEqual(['holdfast/proof']);
  expect(await register(inTwoSteps(shared(), 'make', false)).check!()).toEqual([]);
});

test('the races are run once for all processes, and by every check', async () => {
  const all = shared();
  const counts: number[] = [];
  for (const act of ['lock', 'lock', 'check'] as const) {
    let writes = 0;
    const store = memoryStore(all);
    const { write } = store;
    const backend = register({
      ...store,
      imitated: true,
      write: (...call) => {
        writes++;
        return write(...call);
      },
    });
    if (act === 'check') await backend.check!();
    else
      await createLocks(backend)
        .mutex('k')
        .run(() => {});
    counts.push(writes);
  }
  // A lock: to take it and to give it back. A proof: three writes. Before it the object is made, the races are 24, and then it says so.
  expect(counts).toEqual([2 + 3 + 1 + 24 + 1, 2 + 3, 3 + 24 + 1]);
});

test('many that prove one store at the same time find it good', async () => {
  const all = shared();
  const backends = Array.from({ length: 8 }, () => register(memoryStore(all, { delay: 4 })));
  expect((await Promise.all(backends.map((backend) => backend.check!()))).flat()).toEqual([]);
});

test('a store that never answers the removal of what the races made holds up the first lock for a time only', async () => {
  const clock = manualClock();
  const store = { ...memoryStore(shared(), { clock }), imitated: true };
  store.remove = () => new Promise(() => {});
  const backend = register(store, { clock });
  const first = backend.attempt(claim('a'));
  const outcome = Promise.race([first, new Promise((late) => clock.after(10_000, () => late('no answer')))]);
  await clock.advance(10_000);
  expect(await outcome).toMatchObject({ granted: true });
});

test('a lease that the store would not keep is refused alone: the other steps of the same write are done', async () => {
  const all = shared();
  const store: RegisterStore = { ...memoryStore(all), keeps: async () => 60_000 };
  const backend = register(store);
  const permit = { units: 1, capacity: 3 };
  const before = claim('before', { ...permit, ttl: 1_000 });
  for (const isNew of [true, false]) {
    const [first, refused, renewed] = await Promise.allSettled([
      backend.attempt(isNew ? before : claim('a', { ...permit, ttl: 1_000 })),
      backend.attempt(claim('b', { ...permit, ttl: 120_000 })),
      ...(isNew ? [] : [backend.renew([before])]),
    ]);
    expect(first).toMatchObject({ status: 'fulfilled', value: { granted: true } });
    expect(refused).toMatchObject({ reason: { code: 'LOCK_UNSUPPORTED', message: expect.stringContaining('60000') } });
    if (!isNew) expect(renewed).toMatchObject({ value: [{ validFor: 1_000 }] });
  }
  expect(all.entries.get('holdfast/l/k')?.text).not.toContain('"id":"b"');
});
