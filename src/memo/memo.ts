import type { Duration, LockError } from '../core/index.ts';

/** What `run` came to. */
export interface MemoResult<T> {
  /** What the function gave, this caller's or another one's, as it was kept: decoded, and of its own for each caller. After a refresh that failed: the old one. */
  readonly value: T;
  /** Whether this call's own function gave it. */
  readonly ran: boolean;
  /**
   * Whether others get this value. False: its lease was lost, or the engine refused it, and others may run. `unknown`: an answer of the
   * engine was lost, and nobody can tell any more.
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
  /** How long to wait while another one runs; 0: not at all. What this call runs itself has no limit. */
  readonly wait?: Duration | undefined;
  /** Ends the wait, and tells a run to stop that nobody else waits for. */
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
   * Forgets the result, a kept error and the attempts. No later call of this process gets them. What runs now may still leave its result.
   * @returns whether there was anything
   * @example await locks.memo('report').forget();
   */
  forget(): Promise<boolean>;
}
