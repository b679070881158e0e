import type { LockError } from './errors.ts';

/** The mark of a claim of which others see nothing. */
export const NO_MARK = '-';

/** Says that words left under the key of a claim may be as good to it as the lock. */
export interface ValueCondition {
  /**
   * Words left no longer ago than this answer the claim, ms. Infinity: all that are there. Any other age is compared with what the
   * engine's clock says, so words from its future, as after it was set back, answer nobody who gives one.
   */
  readonly age: number;
  /** What others see of it while it holds, and stands first: 1 to 64 printable ASCII characters without a blank, or `NO_MARK`. */
  readonly mark: string;
  /** The time after its ttl in which the claim counts among the `attempts` of its key, ms. 0: it does not count, and its mark is not kept. */
  readonly counts: number;
}

/** The words that a release leaves under the key in the step that frees it. */
export interface NewValue {
  /** Up to `Traits.values.maxBytes` bytes of well-formed text. */
  readonly text: string;
  /** The time for which they stay, ms. */
  readonly ttl: number;
  /** The engine gives them an age of 0, so that they answer every claim that asks. Default false. */
  readonly ageless?: boolean;
}

/** What words say of their key: a result is there, an error that is kept, or that nobody begins for a while. */
export type ValueState = 'kept' | 'failed' | 'poisoned';

/** The state of a key that remembers. */
export type KeyState = ValueState | 'absent' | 'running';

/** The words that a holder left. */
export interface StoredValue {
  /** The words themselves. */
  readonly text: string;
  /** The token of its hold. */
  readonly token: bigint;
  /** The time since it left them, by the engine's clock, ms; 0 for words that are `ageless`. Below 0 if that clock was set back since. */
  readonly age: number;
  /** The time until they are gone, ms. */
  readonly validFor: number;
}

/** Whether words answer a claim that takes them up to this age. */
export const isAnswer = (left: Pick<StoredValue, 'age'>, age: number): boolean =>
  age === Number.POSITIVE_INFINITY || (left.age >= 0 && left.age <= age);

/**
 * Words stay at least so long, ms, for those who asked before they came. Where they stay no longer, they may count for less, and their age
 * has to be exact.
 */
export const MIN_VALUE_TTL_MS = 60_000;

/** The facts that an engine keeps of a key beside its line. */
export interface ValueRecord {
  /** The words that are there. */
  readonly value?: StoredValue;
  /** The number of holds, of claims that count, begun since words were last left. */
  readonly attempts: number;
  /** The mark of the last of these. */
  readonly mark: string;
  /** Its token; 0 if there is none. */
  readonly begun: bigint;
}

/**
 * Looks up what an engine remembers of keys, without a place in their lines.
 * @example
 * const { values } = memory();
 * const { value, attempts } = await values!.look('prices');
 * await values!.forget('prices');
 * if (values?.keys) for await (const key of values.keys('pri')) console.log(key);
 */
export interface Values {
  /** Reads what is there. */
  look(key: string): Promise<ValueRecord>;
  /** Removes the words and the attempts. A hold that began before may leave words again. @returns whether there were any */
  forget(key: string): Promise<boolean>;
  /**
   * Memos can be listed. Gives each key that begins with `prefix` and has words or tries once, in any order; some may be over by then.
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
