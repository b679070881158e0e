import { describe, expect, test } from 'vitest';
import { type ManualClock, manualClock } from '../../../products/testing/index.ts';
import { stepUntilEnd } from '../../../products/testing/limited.ts';
import { type RegisterStore, register } from '../../../src/backends/register/index.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { memoryStore, type Shared, shared } from '../../kit/register-store.ts';

/** ms: how long each request takes at least, and how much longer at most. */
const WAY = { least: 80, more: 20 };

/** A store that is as far away as an object store: the time of a request hardly differs from that of the next. */
function distantStore(all: Shared, clock: ManualClock, wrote: () => void): RegisterStore {
  const store = memoryStore(all, { clock, delay: WAY.more / 2 });
  const way = (): Promise<void> => new Promise((resolve) => clock.after(WAY.least / 2, resolve));
  return {
    ...store,
    async read(key, signal) {
      await way();
      const entry = await store.read(key, signal);
      await way();
      return entry;
    },
    async write(key, text, ifVersion, signal) {
      await way();
      const written = await store.write(key, text, ifVersion, signal);
      if (key.endsWith('/l/k') && written) wrote();
      await way();
      return written;
    },
  };
}

/** How many times a process that never pauses changed the line of a key before another process, which came later, first did. */
async function writesBefore(seed: number, callers: number): Promise<number> {
  const clock = manualClock(seed);
  const all = shared();
  const written = { busy: 0, other: 0 };
  const open = (who: keyof typeof written): Locks =>
    createLocks(
      register(
        distantStore(all, clock, () => written[who]++),
        { clock },
      ),
      { clock },
    );
  const busy = open('busy');
  const other = open('other');
  const over = <T>(act: Promise<T>): Promise<T> => stepUntilEnd(act, () => clock.advance(10));
  await over(Promise.all([busy, other].map((locks) => locks.mutex('warm').run(() => {}))));
  let ends = false;
  const loops = Array.from({ length: callers }, async () => {
    while (!ends) await busy.mutex('k').run(() => {});
  });
  await clock.advance(2_000);
  const from = written.busy;
  const turn = other.mutex('k').run(() => {});
  turn.catch(() => {});
  while (written.other === 0 && written.busy - from <= 64) await clock.advance(1);
  const writes = written.busy - from;
  await over(turn);
  ends = true;
  await over(Promise.all(loops));
  await over(Promise.all([busy.close(), other.close()]));
  return writes;
}

describe('a process that comes to a key which another one never leaves', () => {
  test.each([1, 5])('changes the line soon, although %i callers there never pause', {
    timeout: 60_000,
  }, async (callers) => {
    for (let seed = 1; seed <= 20; seed++)
      expect(await writesBefore(seed, callers), `writes of the other one, seed ${seed}`).toBeLessThanOrEqual(64);
  });
});
