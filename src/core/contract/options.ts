import type { Backend } from './backend.ts';
import type { Duration, Wait } from './duration.ts';
import { invalid, LockError, quoted, shown } from './errors.ts';

/**
 * Options of a lock. Give them to a call, to a lock, or to `createLocks(backend, defaults)` for all locks; the option nearest to the call wins.
 * Undefined is ignored; null is refused.
 */
export interface LockOptions {
  /** The time to wait for the lock; 0 is one attempt, `'forever'` has no limit. Default 30 s. */
  readonly wait?: Wait | undefined;
  /** The lease: how long the hold lives without a renewal. Default 30 s; at least 3 ms; each engine has bounds. */
  readonly ttl?: Duration | undefined;
  /** Whether the lease is renewed every third of `ttl`. Default true; false with `adaptive`. */
  readonly renew?: boolean | undefined;
  /** Ends the renewals after this time, so that work that hangs does not hold the lock for ever. Default: no limit. */
  readonly maxHold?: Duration | undefined;
  /** The key stays taken at least this long after the grant, even after an earlier release. Default 0. */
  readonly minHold?: Duration | undefined;
  /**
   * How long the key stays taken after a hold has expired: for resources that cannot check a token. 0 to 60 s, and no more than the engine's longest
   * lease minus `ttl`. Default 0.
   */
  readonly delay?: Duration | undefined;
  /** How long before the deadline the loss signal fires. Default a tenth of `ttl`; at most two thirds of it. */
  readonly notice?: Duration | undefined;
  /** Makes the next lease longer if the work of earlier holders nearly used up their leases. For leases without renewal. */
  readonly adaptive?: Adaptive | undefined;
  /** The pauses between two attempts, if the engine wakes no waiter. */
  readonly spin?: Spin | undefined;
  /**
   * Whether `run` and the end of a block with `await using` wait for the engine's answer to the release. Default true. False: the release is sent in
   * the same turn, and `close()` waits for it. Others find the lock taken until the release arrives. While 256 are under way, the next one is awaited.
   */
  readonly awaitRelease?: boolean | undefined;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** The name of the caller in listings, for people. Default `host:pid`. At most 128 characters. */
  readonly label?: string | undefined;
  /** How long an exclusive hold may pass from hand to hand inside this process. Default 64 times and 10 ms. */
  readonly handOff?: false | HandOff | undefined;
  /**
   * Whether calls inside `run`, in its async context, enter the lock again. Default true. `await` such calls: otherwise they run beside the function
   * that made them. Give false for work that serves many callers in the async context of one of them, as in a batch or a pool: then that work
   * waits in the queue as any other caller does. If the holder in turn waits for that work, both wait until `wait` is over.
   */
  readonly reentrant?: boolean | undefined;
  /**
   * What `run` does if its lease was lost before its function ended. `'tell'` (default): `run` gives the result of the function, which `lease.signal`
   * has notified. `'throw'`: when the function has ended, `run` rejects with `LOCK_LOST`; `outcome` of the error is what the function gave.
   */
  readonly onLoss?: 'tell' | 'throw' | undefined;
  /**
   * Searches for a deadlock after half a second, if the caller waits inside another hold. Among the waits of a deadlock that have this option, the
   * wait that began last gives up, with `LOCK_DEADLOCK`. Default false. It is refused if the engine cannot list waiters.
   */
  readonly detect?: boolean | undefined;
}

/** How long an exclusive hold may pass from hand to hand inside the process before others get their turn. */
export interface HandOff {
  /** How often a hold may pass on before it goes back to the engine: 1 to 1,023. Default 64; 1,023 with a `linger`. */
  readonly max?: number;
  /** The time after its grant in which a hold may pass on. Default 10 ms. */
  readonly within?: Duration;
  /**
   * If no caller of this process waits for a released hold, the process keeps it this long for its next caller, but not past `within`. Other processes
   * wait at most that much longer. If the claim had to wait in the engine's queue, its hold is not kept. Default 0; up to 1 s.
   */
  readonly linger?: Duration;
}

/** Options of leases without renewal, whose length follows earlier work. */
export interface Adaptive {
  /** The name for all locks that learn from the same durations: 1 to 512 bytes. Default the key; in `@Locked` its template. */
  readonly group?: string;
  /** The longest lease that may result, at least `ttl`. */
  readonly cap: Duration;
}

/** The pauses between attempts. */
export interface Spin {
  /** The first pause; each later pause is twice as long. Default 10 ms. */
  readonly pause?: Duration;
  /** The random part of each pause, 0 to 1. Default 0.5. */
  readonly jitter?: number;
  /**
   * The longest pause. Default 1 s. If the engine wakes waiters, a `bound` above 2 s also sets how often a waiter asks, as far as the engine allows.
   * A longer bound costs less, but a waiter that died in the queue, or a lost notification, is noticed later.
   */
  readonly bound?: Duration;
}

declare const checked: unique symbol;

/** A list of names that the compiler has compared with its options, so that no name is forgotten: `namesOf` makes such a list. */
export type OptionNames = ReadonlySet<string> & { readonly [checked]: true };

/** Lists the names of all options in `T`. The compiler refuses a list that lacks a name, or has a name that `T` has not. */
export const namesOf = <T>(names: Record<keyof T, true>): OptionNames =>
  new Set(Object.keys(names)) as Set<string> & OptionNames;

/** Puts lists of names together. */
export const allOf = (...lists: readonly OptionNames[]): OptionNames =>
  new Set(lists.flatMap((names) => [...names])) as Set<string> & OptionNames;

/** @throws LockError `LOCK_INVALID`, unless `taker` was given a backend */
export function checkBackend(backend: Backend, taker: string): Backend {
  if (typeof backend?.attempt === 'function') return backend;
  throw invalid(`${taker} was given ${shown(backend)}, not a backend; make one with memory(), redis(client)…`);
}

/** Refuses a name that is no option, as it may be misspelt, and `null`, so that a value which is missing by mistake is not taken for the default. */
export function checkNames(given: unknown, names: OptionNames, what: string): void {
  if (given === undefined) return;
  if (typeof given !== 'object' || given === null) throw invalid(`${what} must be an object, not ${shown(given)}`);
  for (const [name, value] of Object.entries(given)) {
    if (!names.has(name)) throw invalid(`${shown(name)} is not one of ${what}; there are ${[...names].join(', ')}`);
    if (value === null) throw invalid(`${name} is null; give a value or leave it out (it is one of ${what})`);
  }
}

/** Checks names as `checkNames` does, and refuses missing options. */
export function checkGiven(given: unknown, names: OptionNames, what: string): void {
  if (given === undefined) throw invalid(`${what} are missing; there are ${[...names].join(', ')}`);
  checkNames(given, names, what);
}

/** @throws LockError `LOCK_INVALID`, unless `value` is `true` or `false` */
export function flag(value: unknown, name: string, key?: string): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid(`${name} is ${shown(value)}; it must be true or false`, key);
}

/** @throws LockError `LOCK_INVALID`, unless `value` is one of `choices` */
export function oneOf<T extends string>(value: unknown, choices: readonly T[], name: string, more = ''): T {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw invalid(`${name} is ${shown(value)}; it must be ${choices.map(shown).join(' or ')}${more}`);
}

/** @throws LockError `LOCK_INVALID`, unless `value` is a whole number within the bounds. */
export function whole(value: unknown, name: string, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  throw invalid(`${name} is ${shown(value)}; it must be a whole number from ${min} to ${max}`);
}

/** @throws LockError `LOCK_INVALID` */
export function abortSignal(value: AbortSignal | undefined, key?: string): AbortSignal | undefined {
  if (value === undefined || value instanceof AbortSignal) return value;
  throw invalid(`signal is ${shown(value)}; it must be an AbortSignal`, key);
}

/** The longest key, in bytes of UTF-8. Every engine takes a key of this length, in its own encoding. */
export const MAX_KEY_BYTES = 512;

/**
 * Checks a key, which may be any well-formed Unicode. Each backend encodes keys so that different ones never collide.
 * @throws LockError `LOCK_INVALID`.
 */
export function checkKey(key: unknown, name = 'key'): string {
  if (typeof key !== 'string') throw invalid(`a ${name} must be a string, not ${shown(key)}`);
  if (key === '') throw invalid(`a ${name} must not be empty`);
  // A UTF-16 unit takes at most three bytes, so short keys, which nearly all are, need no counting.
  const bytes = key.length * 3 > MAX_KEY_BYTES ? Buffer.byteLength(key) : 0;
  if (bytes > MAX_KEY_BYTES)
    throw invalid(`the ${name} ${shown(key)} has ${bytes} bytes; at most ${MAX_KEY_BYTES} are allowed`);
  // A lone surrogate has no UTF-8 form: two keys that have one could become the same on the wire.
  if (!key.isWellFormed()) throw invalid(`the ${name} ${shown(key)} is not well-formed Unicode`);
  return key;
}

/** Checks a prefix that the operator chose: it must be short and plain, so that it cannot leave the engine's namespace. */
export function checkPrefix(prefix: unknown, form: RegExp = /^[A-Za-z0-9_.:-]{1,64}$/): string {
  if (typeof prefix !== 'string' || !form.test(prefix))
    throw invalid(`prefix is ${shown(prefix)}; it must match ${form.source}`);
  return prefix;
}

/** @throws LockError `LOCK_INVALID`, or `LOCK_UNSUPPORTED` where the engine cannot list its locks */
export function checkListable(backend: Backend, prefix: string): void {
  if (typeof prefix !== 'string') throw invalid(`a prefix must be a string, not ${shown(prefix)}`);
  if (!backend.inspect) throw unsupported(backend, 'list its locks');
}

/** @throws LockError `LOCK_UNSUPPORTED` if the engine cannot list waiters; the message then advises `instead` */
export function checkWaitersListed({ name: backend, inspect, traits }: Backend, instead: string, key?: string): void {
  if (inspect && traits.fair) return;
  const why = inspect ? 'keeps no queue, so it cannot list who waits' : 'cannot list who holds and who waits';
  throw new LockError('LOCK_UNSUPPORTED', `${quoted(backend)} ${why}; ${instead}`, { backend, key });
}

/** Makes the error for something that this engine cannot do. */
export const unsupported = ({ name: backend }: Backend, what: string, key?: string): LockError =>
  new LockError('LOCK_UNSUPPORTED', `${quoted(backend)} cannot ${what}`, { backend, key });
