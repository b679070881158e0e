import { EXCLUSIVE } from '../core/admission.ts';
import type { Lease } from '../core/lease.ts';
import type { LockOptions } from '../core/options.ts';
import type { LockRuntime } from '../core/runtime.ts';
import { type Lock, LockObject, oneKey } from './lock.ts';

/** One holder at a time. Re-enters inside `run`. */
export type Mutex = Lock<Lease>;

/** @internal */
export const mutex = (runtime: LockRuntime, key: string, layers: readonly (LockOptions | undefined)[]): Mutex =>
  new LockObject(runtime, oneKey<Lease>(runtime, key, EXCLUSIVE), layers);
