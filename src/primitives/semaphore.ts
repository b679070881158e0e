import { ALL_SEATS } from '../core/admission.ts';
import { LockError } from '../core/errors.ts';
import type { SharedLease } from '../core/lease.ts';
import { type LockOptions, whole } from '../core/options.ts';
import type { LockRuntime } from '../core/runtime.ts';
import { type Lock, LockObject, oneKey } from './lock.ts';

/** Options of a lock, and how many permits there are. */
export interface SemaphoreOptions extends LockOptions {
  /** How many permits there are: 1 to 2³¹ − 2. Where callers differ, the smallest number counts. */
  readonly permits: number;
}

/** Options of a lock, and how many permits this call takes. */
export interface PermitOptions extends LockOptions {
  /** How many permits to take, all or none: 1 to `permits`. Default 1. */
  readonly units?: number | undefined;
}

/** So many permits, each held with a lease. Never re-enters. */
export type Semaphore = Lock<SharedLease, PermitOptions>;

/** @internal */
export function semaphore(
  runtime: LockRuntime,
  key: string,
  given: SemaphoreOptions,
  defaults: LockOptions | undefined,
): Semaphore {
  const { name: backend, traits } = runtime.engine.backend;
  if (traits.seats !== 'counted') {
    const why = `${backend} cannot count permits; use mutex(), or an engine that has permits, such as Redis, SQL tables, etcd or a file`;
    throw new LockError('LOCK_UNSUPPORTED', why, { key, backend });
  }
  const { permits, ...options } = given ?? {};
  const of = whole(permits, 'permits', 1, ALL_SEATS - 1);
  const taking = (units: unknown) => oneKey<SharedLease>(runtime, key, { take: whole(units, 'units', 1, of), of });
  return new LockObject<SharedLease, PermitOptions>(
    runtime,
    {
      ...taking(1),
      lockOptions: ({ units: _, ...rest } = {}) => rest,
      obtain: (resolved, given) => taking(given?.units ?? 1).obtain(resolved, undefined),
    },
    [defaults, options],
  );
}
