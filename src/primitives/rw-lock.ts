import { SHARED, WRITER } from '../core/admission.ts';
import { LockError } from '../core/errors.ts';
import type { Lease, SharedLease } from '../core/lease.ts';
import type { LayeredOptions } from '../core/options.ts';
import type { LockRuntime } from '../core/runtime.ts';
import { type Lock, LockObject, OneKey } from './lock.ts';

/** Many readers or one writer, in order of arrival, so that neither starves. `read` inside `write` re-enters. */
export interface RwLock {
  readonly read: Lock<SharedLease>;
  readonly write: Lock<Lease>;
}

/** @internal */
export function rwLock(runtime: LockRuntime, key: string, options: LayeredOptions): RwLock {
  const { name: backend, traits } = runtime.engine.backend;
  if (traits.seats === 'exclusive') {
    throw new LockError('LOCK_UNSUPPORTED', `${backend} cannot share a key among readers; use mutex()`, {
      key,
      backend,
    });
  }
  return {
    read: new LockObject(runtime, new OneKey<SharedLease>(runtime, key, SHARED), options),
    write: new LockObject(runtime, new OneKey<Lease>(runtime, key, WRITER), options),
  };
}
