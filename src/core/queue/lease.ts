import type { Duration } from '../contract/duration.ts';

/** A hold in the hands of one caller. The clock decides, so ask `held` right before a step that must not happen twice. */
export interface AnyLease extends AsyncDisposable {
  /** The key that is held; of several, all keys. */
  readonly key: string;
  /**
   * It aborts when the hold is lost, `notice` before the deadline; its reason is the `LOCK_LOST` error. Its listeners run in the async
   * context of the first caller that asked this lease for it; inside `run` the lock cannot be entered again by then.
   */
  readonly signal: AbortSignal;
  /**
   * Compares the deadline with the clock. It is false from the deadline on, after a release, and as soon as the engine says that the hold
   * is gone. After `signal` has aborted, it stays true until the deadline: nobody else gets the lock before that.
   */
  readonly held: boolean;
  /** The time until the deadline unless it is renewed, ms; 0 if it is not held. */
  readonly remaining: number;
  /**
   * @throws LockError `LOCK_LOST`, `LOCK_NOT_HELD` after a release
   * @example
   * await locks.mutex('order:42').run(async (lease) => {
   *   await work(lease.signal);
   *   lease.assertHeld(); // right before what must not happen twice
   * });
   */
  assertHeld(): void;
  /**
   * Makes the lease last at least `ttl` from now, and after each later renewal; never shorter than before. If an earlier renewal was never
   * answered, a lease that renews goes on in steps no longer than that one: see `remaining`.
   * @throws LockError `LOCK_LOST`, `LOCK_NOT_HELD`; `LOCK_UNAVAILABLE` when nobody knows (the old deadline stands)
   * @example
   * await using lease = await locks.mutex('export').acquire({ renew: false });
   * await lease.extend('2m');
   */
  extend(ttl: Duration): Promise<void>;
  /**
   * Releases it, and tells whether this call freed it. It is false, not an error, after a loss, a second time, while an outer frame still
   * holds, or if the engine gives no answer within 5 s: then it goes on in the background. Never throws.
   * @example
   * const lease = await locks.mutex('order:42').acquire();
   * const freed = await lease.release();
   */
  release(): Promise<boolean>;
  /**
   * Gives what belongs into a log, with the token as text, because JSON has no such numbers.
   * @example
   * await using lease = await locks.mutex('order:42').acquire();
   * console.log(lease.toJSON()); // what JSON.stringify(lease) shows
   */
  toJSON(): LeaseRecord;
  /** Releases; never throws. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A lease as JSON shows it, at that moment. */
export interface LeaseRecord {
  /** The key that is held; of several, all keys. */
  readonly key: string;
  /** Whether it was held. */
  readonly held: boolean;
  /** The time until the deadline unless it is renewed, ms; 0 if it is not held. */
  readonly remaining: number;
  /** The fencing token in digits; only of exclusive holds. */
  readonly token?: string;
}

/** A lease of readers and permits: without a token, since several hold at once. */
export interface SharedLease extends AnyLease {
  /** None. */
  readonly token?: undefined;
}

/** A lease of a mutex or a writer: with a token, since nobody holds beside it. */
export interface Lease extends AnyLease {
  /** The fencing token: grows with every exclusive grant of the key. The guarded resource refuses anything older. */
  readonly token: bigint;
}
