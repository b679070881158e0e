import type { LockError } from './errors.ts';

/** The `mark` of a claim that shows nothing to other processes. */
export const NO_MARK = '-';

/** Says which stored value a claim accepts in place of the lock. */
export interface ValueCondition {
  /**
   * The greatest age of a value that answers the claim, ms; Infinity: any value. The engine's clock gives the age. If that clock was set back, a
   * value may seem to come from the future: such a value answers only a claim with Infinity.
   */
  readonly age: number;
  /** What others see of the claim while it holds as the first in the queue: 1 to 64 printable ASCII characters without a blank, or `NO_MARK`. */
  readonly mark: string;
  /** How long after its ttl the claim still counts among the `attempts` of its key, ms. 0: it never counts, and its mark is not kept. */
  readonly counts: number;
}

/** The value that a hold stores under its key in the step that frees the key. */
export interface NewValue {
  /** Up to `Traits.values.maxBytes` bytes of well-formed text. */
  readonly text: string;
  /** How long the value is kept, ms. */
  readonly ttl: number;
  /** The age of the value is always 0, so that it answers every claim that asks. Default false. */
  readonly ageless?: boolean;
}

/** What a value says of its key. `kept`: a result. `failed`: an error. `poisoned`: nobody begins for a while. */
export type ValueState = 'kept' | 'failed' | 'poisoned';

/** The state of the key of a memo. */
export type KeyState = ValueState | 'absent' | 'running';

/** The value that a holder stored. */
export interface StoredValue {
  /** The value itself. */
  readonly text: string;
  /** The token of that holder. */
  readonly token: bigint;
  /** The time since the value was stored, by the engine's clock, ms; 0 if it is `ageless`. Below 0 if that clock was set back since. */
  readonly age: number;
  /** The time until the value is gone, ms. */
  readonly validFor: number;
}

/** Whether a value answers a claim that accepts values up to this age. */
export const isAnswer = (value: Pick<StoredValue, 'age'>, age: number): boolean =>
  age === Number.POSITIVE_INFINITY || (value.age >= 0 && value.age <= age);

/**
 * A memo stores its value for at least this long, ms, for callers that asked before the value came. If the memo's `keep` is shorter, a caller takes the
 * value only up to an age, so the age that the engine gives has to be exact.
 */
export const MIN_VALUE_TTL_MS = 60_000;

/** The facts that an engine keeps of a key beside its queue. */
export interface ValueRecord {
  /** The value that is there. */
  readonly value?: StoredValue;
  /** The number of holds that began since a value was last stored, without those of claims that do not count. */
  readonly attempts: number;
  /** The mark of the last of these holds. */
  readonly mark: string;
  /** The token of that hold; 0 if none. */
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
  /** Reads the record of the key. */
  look(key: string): Promise<ValueRecord>;
  /** Removes the value and the attempts. A hold that began before may store a value again. @returns whether there was anything */
  forget(key: string): Promise<boolean>;
  /**
   * Lists memos. Gives once, in any order, each key that begins with `prefix` and has a value or attempts; some may have expired by then.
   * @param progress called after each request to the engine, with the number of keys looked at so far
   */
  keys?(prefix: string, progress?: (looked: number) => void): AsyncIterable<string>;
}

/**
 * What became of a value. `stored`: it is under the key. `gone`: the hold was over before, and nothing was stored. `refused`: the engine does not
 * take the value, and the hold is released without it. `unknown`: no answer came in time. The release goes on until the lease is over, so the value
 * may still be stored.
 */
export type StoreOutcome = 'stored' | 'gone' | 'unknown' | { readonly refused: LockError };
