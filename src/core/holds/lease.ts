import type { Duration } from '../contract/duration.ts';

/** A hold in the hands of one caller. Whatever the clock says counts, so ask `held` right before what must not happen twice. */
export interface AnyLease extends AsyncDisposable {
  /** What is held; of several, all keys. */
  readonly key: string;
  /**
   * Aborted on loss, `notice` before the deadline; its reason is the `LOCK_LOST` error. Its listeners run in the async context of
   * whoever was the first to ask this lease for it; inside `run` the lock cannot be entered again by then.
   */
  readonly signal: AbortSignal;
  /**
   * Compares the clock, now. False from the deadline on, and after a release; at once where the engine says that the hold is gone. After `signal`
   * it stays true until the deadline: nobody else is inside before.
   */
  readonly held: boolean;
  /** ms until the deadline unless renewed; 0 when not held. */
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
   * Makes the lease last at least `ttl` from now, and each renewal from now on; never shorter than it was. One that renews, and
   * of which an earlier renewal was never answered, goes on in steps no longer than that one: `remaining` tells.
   * @throws LockError `LOCK_LOST`, `LOCK_NOT_HELD`; `LOCK_UNAVAILABLE` when nobody knows (the old deadline stands)
   * @example
   * await using lease = await locks.mutex('export').acquire({ renew: false });
   * await lease.extend('2m');
   */
  extend(ttl: Duration): Promise<void>;
  /**
   * Whether this call freed it: false, not an error, after a loss, a second time, or while an outer frame still holds; and when
   * the engine gave no answer, within 5 s: then it goes on in the background. Never throws.
   * @example
   * const lease = await locks.mutex('order:42').acquire();
   * const freed = await lease.release();
   */
  release(): Promise<boolean>;
  /**
   * For logs: the token as text, since JSON has no such numbers.
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
  /** What is held; of several, all keys. */
  readonly key: string;
  /** Whether it was held. */
  readonly held: boolean;
  /** ms until the deadline unless renewed; 0 when not held. */
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
