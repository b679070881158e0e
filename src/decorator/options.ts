import {
  allOf,
  checkNames,
  invalid,
  LOCK_OPTIONS,
  type LockError,
  type LockOptions,
  namesOf,
  oneOf,
  shown,
  spin,
  whole,
} from '../core/index.ts';
import type { Locks } from '../index.ts';

/** A template over the arguments, or a function of them. */
export type Key<A extends unknown[] = never[]> = string | ((...args: A) => string);

/** What happens if the lock is not free in time. A function gets the error and the arguments, and must declare the types of its parameters. */
export type OnBusy = 'throw' | 'skip' | ((error: LockError, ...args: never[]) => unknown);

/** The result of a call if the lock is not free. */
export type WhenBusy<B> = B extends 'skip' ? undefined : B extends (...args: never[]) => infer R ? Awaited<R> : never;

/** The arguments that `onBusy` needs. */
export type BusyArgs<B> = B extends (error: LockError, ...args: infer A) => unknown ? A : unknown[];

/** Options of `@Locked` and `locked`: lock options, the kind, and what to do if the lock is busy. */
export interface LockedOptions<B extends OnBusy = OnBusy> extends LockOptions {
  /** `read` and `write` are the sides of one read-write lock. For a semaphore give `permits`. Default `mutex`. */
  readonly kind?: 'mutex' | 'read' | 'write';
  /** Makes a semaphore with this number of permits. Default: a lock of `kind`. */
  readonly permits?: number;
  /** How many permits one call takes. Default 1. */
  readonly units?: number;
  /** How often to try again, 0 to 1,000, if the lock was not free within `wait` or the engine did not answer. `spin` sets the pauses. Default 0. */
  readonly retries?: number;
  /**
   * If the lock was not free: `throw` the `LOCK_TIMEOUT` error (default), `skip` (the call gives undefined), or a function that
   * makes the result. With `skip`, a function, or `retries`, the default of `wait` is 0.
   */
  readonly onBusy?: B;
  /** Default: the locks of `lockedBy`, else of the Nest application, else of `useLocks`. */
  readonly locks?: Locks;
}

/** Where the key comes from. */
export interface KeyOption<A extends unknown[] = never[]> {
  /** Default: the method's name and its first argument, such as `grab:42`. */
  readonly key?: Key<A>;
}

/** The checked options. `lock` has the options of the lock itself. */
export type Plan = ReturnType<typeof planOf>;

type Own = Omit<LockedOptions & KeyOption, keyof LockOptions>;
const NAMES = allOf(
  namesOf<Own>({ key: true, kind: true, permits: true, units: true, retries: true, onBusy: true, locks: true }),
  LOCK_OPTIONS,
);

/** @throws LockError `LOCK_INVALID` for errors that can be found without an engine. Each call of the method checks the engine's bounds. */
export function planOf(options: LockedOptions & KeyOption) {
  checkNames(options, NAMES, 'the options of @Locked and locked()');
  const { key, kind, permits, units, retries = 0, onBusy = 'throw', locks, ...lock } = options;
  checkKeyOption(key);
  if (permits === undefined && units !== undefined) throw invalid('units are of a semaphore: give permits too');
  if (permits !== undefined && kind !== undefined) throw invalid('permits make it a semaphore: leave kind out');
  const busy = typeof onBusy === 'function' ? onBusy : oneOf(onBusy, ['throw', 'skip'], 'onBusy', ' or a function');
  whole(retries, 'retries', 0, 1_000);
  const impatient = retries > 0 || busy !== 'throw';
  return {
    key: key as Key<unknown[]> | undefined,
    kind: permits === undefined ? oneOf(kind ?? 'mutex', ['mutex', 'read', 'write'], 'kind') : ('semaphore' as const),
    permits: permits ?? 1,
    units: units ?? 1,
    retries,
    spin: spin(lock.spin),
    onBusy: busy as 'throw' | 'skip' | ((error: LockError, ...args: unknown[]) => unknown),
    locks,
    lock: impatient ? { ...lock, wait: lock.wait ?? 0 } : lock,
  };
}

/** @throws LockError `LOCK_INVALID` */
export function checkKeyOption(key: unknown): void {
  if (key === undefined || typeof key === 'string' || typeof key === 'function') return;
  throw invalid(`key is ${shown(key)}; it must be a template such as 'order:{0}', or a function of the arguments`);
}
