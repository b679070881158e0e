import { invalid, type LockError, shown } from '../core/errors.ts';
import { checkNames, LOCK_OPTIONS, type LockOptions, type ResolvedOptions, spin, whole } from '../core/options.ts';
import type { Locks } from '../index.ts';

/** A template over the arguments, or a function of them. */
export type Key<A extends unknown[] = never[]> = string | ((...args: A) => string);

/** What happens when the lock cannot be had in time. A function, which has to say the types of its parameters, gets the error and the arguments. */
export type OnBusy = 'throw' | 'skip' | ((error: LockError, ...args: never[]) => unknown);

/** What a call gives when the lock cannot be had. */
export type WhenBusy<B> = B extends 'skip' ? undefined : B extends (...args: never[]) => infer R ? Awaited<R> : never;

/** What is asked of the arguments when the lock cannot be had. */
export type BusyArgs<B> = B extends (error: LockError, ...args: infer A) => unknown ? A : unknown[];

/** Options of `@Locked` and `locked`: those of a lock, of which kind it is, and what to do when it is busy. */
export interface LockedOptions<B extends OnBusy = OnBusy> extends LockOptions {
  /** Default `mutex`; `read` and `write` are of the same read-write lock; `permits` makes it a semaphore. */
  readonly kind?: 'mutex' | 'read' | 'write';
  /** A semaphore of so many permits. Default: none, a lock of `kind`. */
  readonly permits?: number;
  /** Permits that one call takes. Default 1. */
  readonly units?: number;
  /**
   * How often to try again, 0 to 1,000, when the lock could not be had within `wait` or the engine could not be asked, after
   * pauses as `spin` says. Default 0.
   */
  readonly retries?: number;
  /**
   * When it could not be had: `throw` the `LOCK_TIMEOUT` error (default), `skip` (the call gives undefined), or a function
   * whose result is the call's. With `skip`, a function, or `retries`, `wait` is 0 unless given.
   */
  readonly onBusy?: B;
  /**
   * When the lock is lost while the method runs: its lease's `signal` tells it, and with `reject` the caller too, at once, by
   * `LOCK_LOST`; the method itself cannot be stopped from outside. Default `signal`.
   */
  readonly onLoss?: 'signal' | 'reject';
  /** Default: those of the class (`lockedBy`), else those of `useLocks`. */
  readonly locks?: Locks;
}

/** What the key is made of. */
export interface KeyOption<A extends unknown[] = never[]> {
  /** Default: the method's name and its first argument, `grab:42`. */
  readonly key?: Key<A>;
}

/** Options taken apart: what is ours, and what goes to the lock. */
export interface Plan {
  readonly key: string | ((...args: unknown[]) => string) | undefined;
  readonly kind: 'mutex' | 'read' | 'write' | 'semaphore';
  readonly permits: number;
  readonly units: number;
  readonly retries: number;
  readonly spin: ResolvedOptions['spin'];
  readonly onBusy: 'throw' | 'skip' | ((error: LockError, ...args: unknown[]) => unknown);
  readonly onLoss: 'signal' | 'reject';
  readonly locks: Locks | undefined;
  readonly lock: LockOptions;
}

const OWN = 'key kind permits units retries onBusy onLoss locks'.split(' ');
const NAMES = new Set([...OWN, ...LOCK_OPTIONS]);

/** @throws LockError `LOCK_INVALID` for what can be seen without an engine; its own bounds are checked at the call */
export function planOf(options: LockedOptions & KeyOption): Plan {
  checkNames(options, NAMES, 'the options of @Locked and locked()');
  const { key, kind, permits, units, retries = 0, onBusy = 'throw', onLoss = 'signal', locks, ...lock } = options;
  if (key !== undefined && typeof key !== 'string' && typeof key !== 'function')
    throw invalid(`key is ${shown(key)}; it must be a template such as 'order:{0}', or a function of the arguments`);
  if (permits === undefined && units !== undefined) throw invalid('units are of a semaphore: give permits too');
  if (permits !== undefined && kind !== undefined) throw invalid('permits make it a semaphore: leave kind out');
  const busy = typeof onBusy === 'function' ? onBusy : oneOf(onBusy, ['throw', 'skip'], 'onBusy', ' or a function');
  whole(retries, 'retries', 0, 1_000);
  const impatient = retries > 0 || busy !== 'throw';
  return {
    key: key as Plan['key'],
    kind: permits === undefined ? oneOf(kind ?? 'mutex', ['mutex', 'read', 'write'], 'kind') : 'semaphore',
    permits: permits ?? 1,
    units: units ?? 1,
    retries,
    spin: spin(lock.spin),
    onBusy: busy as Plan['onBusy'],
    onLoss: oneOf(onLoss, ['signal', 'reject'], 'onLoss'),
    locks,
    lock: impatient ? { ...lock, wait: lock.wait ?? 0 } : lock,
  };
}

function oneOf<T extends string>(value: unknown, choices: readonly T[], name: string, more = ''): T {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw invalid(`${name} is ${shown(value)}; it must be ${choices.map(shown).join(' or ')}${more}`);
}
