import type { Duration, LockError, Wait } from '../core/index.ts';

/** What `run` came to. */
export interface MemoResult<T> {
  /** What the function gave, this caller's or another one's, as it was kept: decoded, and of its own for each caller. After a refresh that failed: the old one. */
  readonly value: T;
  /** Whether this call's own function gave it. */
  readonly ran: boolean;
  /**
   * Whether others get this value. False: its lease was lost, or the engine refused it, and others may run. `unknown`: an answer of the
   * engine was lost, and nobody can know any more.
   */
  readonly kept: boolean | 'unknown';
  /** The fencing token of the run that made it. */
  readonly token: bigint;
  /** When it was kept, by this machine's clock. */
  readonly at: Date;
  /** Why it is not kept, where that is so. */
  readonly error?: LockError;
}

/** What a memo remembers. The states are those of the page of memos. */
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
  /** The fencing token: of two runs the later one has the higher. */
  readonly token: bigint;
  /** Aborted when the lease is lost, or when all callers here have given up. */
  readonly signal: AbortSignal;
  /** Whether nobody else can have begun. Compares the clock now. */
  readonly held: boolean;
  /** ms until another one could begin, unless renewed. */
  readonly remaining: number;
  /**
   * @throws LockError `LOCK_LOST` when another one may have begun
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
  /** How long to wait while another one runs; 0: not at all; `'forever'`. What this call runs itself has no limit. */
  readonly wait?: Wait | undefined;
  /** Ends the wait, and aborts the signal of a run that nobody else waits for. */
  readonly signal?: AbortSignal | undefined;
}

/** A key that remembers: of all callers one runs, and everybody has the result. */
export interface Memo<T = unknown> {
  /** Its key. */
  readonly key: string;
  /**
   * Gives the result that is kept. If there is none, one caller at a time runs its function, and all others get what it gave. After an
   * error, or the death of the runner, the next in line runs.
   * @throws what `fn` throws, to its own caller, unless an old result is there; LockError `LOCK_TIMEOUT`, `LOCK_ABORTED`, `LOCK_MISMATCH`, `LOCK_POISONED`,
   * `LOCK_FAILED`, `LOCK_TOO_LARGE`, `LOCK_UNAVAILABLE`, `LOCK_CLOSED`, `LOCK_DEADLOCK`, `LOCK_INVALID`
   * @example const { value } = await locks.memo('report', { keep: '1d' }).run((run) => report(run.token));
   */
  run(fn: MemoWork<T>, options?: MemoWait): Promise<MemoResult<T>>;
  /**
   * Looks, and runs nothing.
   * @throws LockError `LOCK_UNAVAILABLE`, `LOCK_MISMATCH`, `LOCK_INVALID`
   * @example const { state } = await locks.memo('report').peek();
   */
  peek(): Promise<MemoState<T>>;
  /**
   * Forgets the result, a kept error and the attempts. No later call of this process gets them. What runs now may still store its result.
   * @returns whether there was anything
   * @example await locks.memo('report').forget();
   */
  forget(): Promise<boolean>;
}

/**
 * Makes text unreadable for others, and readable again. Both functions give text, and no promise.
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
  /** The text again; throws for what it did not seal. */
  open(sealed: string): string;
}

/** Options of a memo. All callers of a key should give the same. */
export interface MemoOptions<T = unknown> {
  /** How long a result counts, by the engine's clock, up to a year. Default 0: only for those who wait when it comes. */
  readonly keep?: Duration | undefined;
  /**
   * What the request is, as data. A caller with another one gets `LOCK_MISMATCH`, also while the first is running. Its SHA-256 is kept.
   * `undefined`, also inside of it, is `LOCK_INVALID`. Default: nobody asks which request it is.
   */
  readonly match?: unknown;
  /** Begun so often without a result, deaths included, it rests: all get the old result, or `LOCK_POISONED`. Default: no limit. */
  readonly attempts?: number | undefined;
  /** How long it rests then. Default 1 hour. */
  readonly rest?: Duration | undefined;
  /** How long an error is kept for all others, or false: the next in line runs. Default: no error is kept. */
  readonly keepError?: ((error: unknown) => Duration | false) | undefined;
  /** When the result is older than this, one caller makes a new one, and all others get the old one at once. Less than `keep`. Default: never. */
  readonly refresh?: Duration | undefined;
  /** The value as text. Default: JSON that keeps dates, bigints, `undefined`, maps, sets, typed arrays and errors, too. */
  readonly encode?: ((value: T) => string) | undefined;
  /** The value of such a text, for the runner, too. Default: as `encode` by default. */
  readonly decode?: ((text: string) => T) | undefined;
  /** For results that are secrets: what is stored is sealed. */
  readonly seal?: Seal | undefined;
  /** How long to wait for a result, unless a call says otherwise; 0: not at all. Default `'forever'`. */
  readonly wait?: Wait | undefined;
  /** The lease of a run: so long after its death another one begins. Default 30 s; the engine sets the bounds. */
  readonly ttl?: Duration | undefined;
  /** How long before the deadline of the lease a run learns of its loss. Default a tenth of `ttl`; at most two thirds of it. */
  readonly notice?: Duration | undefined;
  /** How long a run is renewed at most: after that it loses its lease, and another one begins. Default: no limit. */
  readonly maxHold?: Duration | undefined;
  /** Give up with `LOCK_DEADLOCK` when the wait can never end, as that of a lock does. Default false. */
  readonly detect?: boolean | undefined;
  /** For people: who this is. Default `host:pid`. */
  readonly label?: string | undefined;
}
