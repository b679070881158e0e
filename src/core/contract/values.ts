import type { LockError } from './errors.ts';

/** The `mark` of a claim that shows nothing to other processes. */
export const NO_MARK = '-';

/** Says that a value under the key of a claim may be as good to it as the lock. */
export interface ValueCondition {
  /**
   * A value that was stored no longer ago than this answers the claim, ms. Infinity: any value. Any other age is compared with what the
   * engine's clock says, so a value from its future, as after it was set back, answers no claim that gives one.
   */
  readonly age: number;
  /** What others see of it while it holds, and stands first: 1 to 64 printable ASCII characters without a blank, or `NO_MARK`. */
  readonly mark: string;
  /** The time after its ttl in which the claim counts among the `attempts` of its key, ms. 0: it does not count, and its mark is not kept. */
  readonly counts: number;
}

/** The value that a release stores under the key in the step that frees it. */
export interface NewValue {
  /** Up to `Traits.values.maxBytes` bytes of well-formed text. */
  readonly text: string;
  /** How long the value is kept, ms. */
  readonly ttl: number;
  /** The engine gives it an age of 0, so that it answers every claim that asks. Default false. */
  readonly ageless?: boolean;
}

/** What a value says of its key: a result is there, an error that is kept, or that nobody begins for a while. */
export type ValueState = 'kept' | 'failed' | 'poisoned';

/** The state of a key that remembers. */
export type KeyState = ValueState | 'absent' | 'running';

/** The value that a holder stored. */
export interface StoredValue {
  /** The value itself. */
  readonly text: string;
  /** The token of its hold. */
  readonly token: bigint;
  /** The time since it was stored, by the engine's clock, ms; 0 for one that is `ageless`. Below 0 if that clock was set back since. */
  readonly age: number;
  /** The time until it is gone, ms. */
  readonly validFor: number;
}

/** Whether a value answers a claim that accepts it up to this age. */
export const isAnswer = (value: Pick<StoredValue, 'age'>, age: number): boolean =>
  age === Number.POSITIVE_INFINITY || (value.age >= 0 && value.age <= age);

/**
 * A value stays at least so long, ms, for those who asked before it came. Where it stays no longer, it may count for less, and its age has
 * to be exact.
 */
export const MIN_VALUE_TTL_MS = 60_000;

/** The facts that an engine keeps of a key beside its queue. */
export interface ValueRecord {
  /** The value that is there. */
  readonly value?: StoredValue;
  /** The number of holds, of claims that count, begun since a value was last stored. */
  readonly attempts: number;
  /** The mark of the last of these. */
  readonly mark: string;
  /** Its token; 0 if there is none. */
  readonly begun: bigint;
}

/**
 * Looks up what an engine remembers of keys, without a place in their queues.
 * @example
 * const { values } = memory();
 * const { value, attempts } = await values!.look('prices');
 * await values!.forget('prices');
 * if (values?.keys) for await (const key of values.keys('pri')) console.log(key);
 */
export interface Values {
  /** Reads what is there. */
  look(key: string): Promise<ValueRecord>;
  /** Removes the value and the attempts. A hold that began before may store one again. @returns whether there were any */
  forget(key: string): Promise<boolean>;
  /**
   * Memos can be listed. Gives each key that begins with `prefix` and has a value or attempts once, in any order; some may be over by then.
   * @param progress called after each request to the engine, with the number of keys looked at so far
   */
  keys?(prefix: string, progress?: (looked: number) => void): AsyncIterable<string>;
}

/**
 * What became of a value. `stored`: it is under the key. `gone`: the hold was over before, and nothing was stored. `refused`: the engine does
 * not take it, and the hold goes on. `unknown`: no answer came for as long as callers wait for an engine, or too late to tell; the release
 * goes on until the lease is over, so it may be stored yet.
 */
export type StoreOutcome = 'stored' | 'gone' | 'unknown' | { readonly refused: LockError };
