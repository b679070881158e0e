import type { Duration, LockError, Wait } from '../core/index.ts';

/** The result of one call of `run`. */
export interface MemoResult<T> {
  /** What a function returned, this caller's or another one's. Each caller gets a decoded copy. After a failed refresh: the old result. */
  readonly value: T;
  /** Whether the function of this call made the value. */
  readonly ran: boolean;
  /**
   * Whether others get this value. False: the lease was lost, or the engine refused the value, and another caller may run. `unknown`: the engine's
   * answer was lost.
   */
  readonly kept: boolean | 'unknown';
  /** The fencing token of the run that made the value. */
  readonly token: bigint;
  /** When the value was kept, by this machine's clock. */
  readonly at: Date;
  /** Why the value is not kept, if it is not. */
  readonly error?: LockError;
}

/** What a memo has under its key. The states are explained on the page of memos. */
export type MemoState<T> =
  | { readonly state: 'absent' | 'running'; readonly attempts: number; readonly by?: string }
  | { readonly state: 'kept'; readonly value: T; readonly token: bigint; readonly at: Date; readonly until: Date }
  | {
      readonly state: 'failed' | 'poisoned';
      readonly error: LockError;
      readonly token: bigint;
      readonly at: Date;
      readonly until: Date;
    };

/** One run of the function. */
export interface MemoRun {
  /** The key of the memo. */
  readonly key: string;
  /** The fencing token: a later run has a higher token. */
  readonly token: bigint;
  /** Aborted when the lease is lost, or when all callers here have given up. */
  readonly signal: AbortSignal;
  /** False when another run may have begun. Each read looks at the clock. */
  readonly held: boolean;
  /** ms until another run could begin, unless the lease is renewed. */
  readonly remaining: number;
  /**
   * @throws LockError `LOCK_LOST` when another run may have begun
   * @example
   * await locks.memo('report', { keep: '1d' }).run(async (run) => {
   *   const rows = await report(new Date());
   *   run.assertHeld();
   *   return rows;
   * });
   */
  assertHeld(): void;
}

/** The function of a memo. */
export type MemoWork<T> = (run: MemoRun) => Promise<T> | T;

/** How one call waits for a result. */
export interface MemoWait {
  /** How long to wait while another caller's function runs; 0: not at all; `'forever'`. `wait` does not limit this call's function. */
  readonly wait?: Wait | undefined;
  /** Ends the wait. If no other caller waits for the run, the signal of the run is aborted, too. */
  readonly signal?: AbortSignal | undefined;
}

/** A key with a result: of all callers one runs its function, and all get what it returns. */
export interface Memo<T = unknown> {
  /** The key of the memo. */
  readonly key: string;
  /**
   * Gives the result that is kept. If no result is kept, one caller at a time runs its function, and all others get that result. If the function
   * throws or its process dies, the function of the next caller runs.
   * @throws what `fn` throws, to its own caller, unless an old result is there; LockError `LOCK_TIMEOUT`, `LOCK_ABORTED`, `LOCK_MISMATCH`,
   * `LOCK_POISONED`, `LOCK_FAILED`, `LOCK_TOO_LARGE`, `LOCK_UNAVAILABLE`, `LOCK_CLOSED`, `LOCK_DEADLOCK`, `LOCK_INVALID`
   * @example const { value } = await locks.memo('report', { keep: '1d' }).run((run) => report(run.token));
   */
  run(fn: MemoWork<T>, options?: MemoWait): Promise<MemoResult<T>>;
  /**
   * Gives the state, and runs nothing.
   * @throws LockError `LOCK_UNAVAILABLE`, `LOCK_MISMATCH`, `LOCK_INVALID`
   * @example const { state } = await locks.memo('report').peek();
   */
  peek(): Promise<MemoState<T>>;
  /**
   * Forgets the result, a kept error and the attempts. No later call of this process gets them. A run under way may still store its result.
   * @returns whether there was anything
   * @example await locks.memo('report').forget();
   */
  forget(): Promise<boolean>;
}

/**
 * Makes text unreadable for others, and readable again. Both functions return text, and no promise.
 * @example
 * const seal = {
 *   seal: (text: string) => Buffer.from(text).toString('base64'), // put a cipher here
 *   open: (sealed: string) => Buffer.from(sealed, 'base64').toString(),
 * };
 * seal.open(seal.seal('a result')) === 'a result';
 */
export interface Seal {
  /** What is stored instead of the text. */
  seal(text: string): string;
  /** Returns the text again; throws for text that `seal` did not make. */
  open(sealed: string): string;
}

/** Options of a memo. All callers of a key should give the same options. */
export interface MemoOptions<T = unknown> {
  /** How long a result is valid, by the engine's clock, up to a year. Default 0: only callers that wait when the result comes get it. */
  readonly keep?: Duration | undefined;
  /**
   * The request, as data. A caller with another request gets `LOCK_MISMATCH`, also during a run. The SHA-256 of the data is kept. `undefined`, also
   * inside the data, is `LOCK_INVALID`. Default: requests are not compared.
   */
  readonly match?: unknown;
  /**
   * After this number of runs without a result, crashes included, no run begins for `rest`: all callers get the old result, or `LOCK_POISONED`.
   * Default: no limit.
   */
  readonly attempts?: number | undefined;
  /** How long no run begins after the last attempt. Default 1 hour. */
  readonly rest?: Duration | undefined;
  /** Says how long an error is kept for all others; `false`: the function of the next caller runs. Default: no error is kept. */
  readonly keepError?: ((error: unknown) => Duration | false) | undefined;
  /** When the result is older than this, one caller makes a new one, and all others get the old one at once. Less than `keep`. Default: never. */
  readonly refresh?: Duration | undefined;
  /** Makes text of a value. Default: JSON that keeps dates, bigints, `undefined`, maps, sets, typed arrays and errors, too. */
  readonly encode?: ((value: T) => string) | undefined;
  /** Makes the value of a text from `encode`, also for the caller whose function ran. Default: the reverse of the default of `encode`. */
  readonly decode?: ((text: string) => T) | undefined;
  /** For results that are secrets: what is stored is sealed. */
  readonly seal?: Seal | undefined;
  /** How long to wait for a result, unless a call says otherwise; 0: not at all. Default `'forever'`. */
  readonly wait?: Wait | undefined;
  /** The lease of a run: if its process dies, another run begins after this time. Default 30 s; the engine sets the bounds. */
  readonly ttl?: Duration | undefined;
  /** How long before the deadline of the lease a run learns that the lease is lost. Default a tenth of `ttl`; at most two thirds of it. */
  readonly notice?: Duration | undefined;
  /** How long a lease is renewed at most: then the run loses it, and another run begins. Default: no limit. */
  readonly maxHold?: Duration | undefined;
  /** Give up with `LOCK_DEADLOCK` when the wait can never end, as a lock does. Default false. */
  readonly detect?: boolean | undefined;
  /** For people: the name of this process. Default `host:pid`. */
  readonly label?: string | undefined;
}
