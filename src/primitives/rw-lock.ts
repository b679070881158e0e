import { SHARED, WRITER } from '../core/admission.ts';
import { LockError } from '../core/errors.ts';
import type { Lease, SharedLease } from '../core/lease.ts';
import type { LockOptions } from '../core/options.ts';
import type { Space } from '../core/space.ts';
import { type Lock, LockObject, oneKey } from './lock.ts';

/** Many readers or one writer, in order of arrival, so that neither starves. `read` inside `write` re-enters. */
export interface RwLock {
  readonly read: Lock<SharedLease>;
  readonly write: Lock<Lease>;
}

/** @internal */
export function rwLock(space: Space, key: string, layers: readonly (LockOptions | undefined)[]): RwLock {
  const { name: backend, traits } = space.engine.backend;
  if (traits.seats === 'exclusive') {
    throw new LockError('LOCK_UNSUPPORTED', `${backend} cannot share a key among readers; use mutex()`, {
      key,
      backend,
    });
  }
  return {
    read: new LockObject(space, oneKey<SharedLease>(space, key, SHARED), layers),
    write: new LockObject(space, oneKey<Lease>(space, key, WRITER), layers),
  };
}
