import {
  type LayeredOptions,
  type Lease,
  type LockOptions,
  type LockRuntime,
  SHARED,
  type SharedLease,
  unsupported,
  WRITER,
} from '../core/index.ts';
import { type Lock, LockObject, oneKey } from './lock.ts';

/** Many readers or one writer hold it, in order of arrival, so that neither starves. `read` inside `write` re-enters. */
export interface RwLock {
  /** The lock that several readers hold together. */
  readonly read: Lock<SharedLease>;
  /** The lock that one writer holds alone. */
  readonly write: Lock<Lease>;
}

/** @internal */
export function rwLock(runtime: LockRuntime, key: string, defaults: LayeredOptions, given?: LockOptions): RwLock {
  const { backend } = runtime.engine;
  if (backend.traits.units === 'exclusive') throw unsupported(backend, 'share a key among readers; use mutex()', key);
  return {
    read: new LockObject(runtime, oneKey<SharedLease>(runtime, key, SHARED), defaults, given),
    write: new LockObject(runtime, oneKey<Lease>(runtime, key, WRITER), defaults, given),
  };
}
