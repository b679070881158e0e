/** A process as `holdfast torture` has it, with the locks of another library: which one `RIVAL` tells. */

import type { LibraryLease, LibraryLock, LockLibrary } from '../../products/torture/process/observer.ts';
import { work } from '../../products/torture/process/work.ts';
import { LockError } from '../../src/core/contract/errors.ts';
import type { RivalHold } from './rival.ts';
import { RIVALS } from './rivals.ts';

const holding = (hold: RivalHold): LibraryLease => ({
  get held() {
    return hold.held();
  },
  get remaining() {
    return hold.remaining?.() ?? Number.POSITIVE_INFINITY;
  },
  signal: hold.signal ?? new AbortController().signal,
  extend: async () => {}, // it extends by itself, or not at all
  release: () => hold.release(),
});

work(async ({ url, ttl: lease }): Promise<LockLibrary> => {
  const rival = RIVALS[process.env.RIVAL ?? '']!.open(url);
  const mutex = (key: string): LibraryLock => ({
    async acquire({ wait }) {
      const hold = await rival.obtain(key, lease, Number(wait));
      if (!hold) throw new LockError('LOCK_TIMEOUT', `${key} was not had in time`);
      return holding(hold);
    },
    async tryAcquire({ ttl }) {
      const hold = await rival.obtain(key, ttl, 0);
      return hold && holding(hold);
    },
  });
  return {
    mutex,
    rwLock: (key) => ({ read: mutex(key), write: mutex(key) }),
    semaphore: mutex,
    close: () => rival.close(),
  };
});
