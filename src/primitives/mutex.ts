import { EXCLUSIVE } from '../core/contract/admission.ts';
import type { LayeredOptions } from '../core/contract/options.ts';
import type { Lease } from '../core/holds/lease.ts';
import type { LockRuntime } from '../core/line/runtime.ts';
import { type Lock, LockObject, OneKey } from './lock.ts';

/** One holder at a time. Re-enters inside `run`. */
export type Mutex = Lock<Lease>;

/** @internal */
export const mutex = (runtime: LockRuntime, key: string, options: LayeredOptions): Mutex =>
  new LockObject(runtime, new OneKey<Lease>(runtime, key, EXCLUSIVE), options);
