import { SHARED, WRITER } from '../core/contract/admission.ts';
import { LockError } from '../core/contract/errors.ts';
import type { LayeredOptions } from '../core/contract/option-table.ts';
import type { LockOptions } from '../core/contract/options.ts';
import type { Lease, SharedLease } from '../core/holds/lease.ts';
import type { LockRuntime } from '../core/line/runtime.ts';
import { type Lock, LockObject, oneKey } from './lock.ts';

/** Many readers or one writer, in order of arrival, so that neither starves. `read` inside `write` re-enters. */
export interface RwLock {
  /** Held beside other readers. */
  readonly read: Lock<SharedLease>;
  /** Held alone. */
  readonly write: Lock<Lease>;
}

/** @internal */
export function rwLock(runtime: LockRuntime, key: string, defaults: LayeredOptions, given?: LockOptions): RwLock {
  const { name: backend, traits } = runtime.engine.backend;
  if (traits.seats === 'exclusive') {
    throw new LockError('LOCK_UNSUPPORTED', `${backend} cannot share a key among readers; use mutex()`, {
      key,
      backend,
    });
  }
  return {
    read: new LockObject(runtime, oneKey<SharedLease>(runtime, key, SHARED), defaults, given),
    write: new LockObject(runtime, oneKey<Lease>(runtime, key, WRITER), defaults, given),
  };
}
