import {
  ALL_UNITS,
  type LayeredOptions,
  type LockOptions,
  type LockRuntime,
  type SharedLease,
  unsupported,
  whole,
} from '../core/index.ts';
import { type Lock, LockObject, oneKey, type Target } from './lock.ts';

/** Options of a lock, and how many permits there are. */
export interface SemaphoreOptions extends LockOptions {
  /** How many permits there are: 1 to 2³¹ − 2. If callers differ, the smallest number counts. */
  readonly permits: number;
}

/** Options of a lock, and how many permits this call takes. */
export interface PermitOptions extends LockOptions {
  /** How many permits to take, all or none: 1 to `permits`. Default 1. */
  readonly units?: number | undefined;
}

/** A semaphore has a fixed number of permits, each held with a lease. A call inside `run` never re-enters. */
export type Semaphore = Lock<SharedLease, PermitOptions>;

/** @internal */
export function semaphore(
  runtime: LockRuntime,
  key: string,
  given: SemaphoreOptions,
  defaults: LayeredOptions,
): Semaphore {
  const { backend } = runtime.engine;
  if (backend.traits.units !== 'counted') {
    // The other programs are Redisson and redis-semaphore.
    const why = backend.traits.hasStrangers ? ': other programs have them without leases, or by clocks of clients' : '';
    throw unsupported(backend, `count permits${why}; use mutex(), or Redis, SQL tables, etcd or a file`, key);
  }
  const { permits, ...options } = given ?? {}; // a call without options is refused for the missing `permits`
  const of = whole(permits, 'permits', 1, ALL_UNITS - 1);
  const permit = oneKey<SharedLease>(runtime, key, { units: 1, capacity: of });
  const target: Target<SharedLease, PermitOptions> = {
    ...permit,
    lockOptions(given) {
      if (typeof given !== 'object' || given === null) return given; // the check of all options refuses it
      const { units: _, ...rest } = given;
      return rest;
    },
    take(terms, given, watched) {
      const units = given?.units === undefined ? 1 : whole(given.units, 'units', 1, of);
      return oneKey<SharedLease>(runtime, key, { units: units, capacity: of }).take(terms, undefined, watched);
    },
  };
  return new LockObject(runtime, target, defaults, options);
}
