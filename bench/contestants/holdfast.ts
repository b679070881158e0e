import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks, type Locks, type LocksDefaults } from '../../src/index.ts';
import type { Contestant, Place } from '../contestant.ts';

/** The whole of us: what a user calls. */
export const holdfast = (backend: Backend, options: LocksDefaults = {}): Contestant =>
  ofLocks(createLocks(backend, options));

export function ofLocks(locks: Locks): Contestant {
  return {
    lock: (key) => {
      const mutex = locks.mutex(key);
      return async () => {
        const lease = await mutex.acquire();
        return () => lease.release();
      };
    },
  };
}

/** Its releases end as a block with `await using` does. */
export function inBlocks(backend: Backend, options: LocksDefaults): Contestant {
  const locks = createLocks(backend, options);
  return {
    lock: (key) => {
      const mutex = locks.mutex(key);
      return async () => {
        const lease = await mutex.acquire();
        return () => lease[Symbol.asyncDispose]();
      };
    },
  };
}

/** Each lock object stands in the engine's line by itself, as if it were a process of its own. */
export const apart = (backend: Backend): Contestant => ({
  lock: (key) => holdfast(backend, { handOff: false }).lock(key),
});

/** As many processes as the place has seats for, all in this one: each has locks and connections of its own. */
export function fleet({ seat }: Place, open: () => Backend, options: LocksDefaults = {}): Contestant {
  const processes = Array.from({ length: seat }, () => holdfast(open(), { wait: 'forever', ...options }));
  let next = 0;
  return { lock: (key) => processes[next++ % processes.length]!.lock(key) };
}
