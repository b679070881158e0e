/** One run of a tick. */
export interface TickRun {
  /** The name that `once` got. */
  readonly name: string;
  /** When the tick was due. */
  readonly tick: Date;
  /**
   * The fencing token. A later run of the tick has a higher token; with `overlap` `skip` or `queue`, so has a later run of the name. The
   * resource that the run writes to should refuse an older token.
   */
  readonly token: bigint;
  /**
   * Aborted when the run must end: its lease is lost while another instance can still run the tick (with `overlap` `skip` or
   * `queue`, a later tick), or the `signal` of the options is aborted.
   */
  readonly signal: AbortSignal;
  /** False when another instance may have begun its run. Each read looks at the clock. */
  readonly held: boolean;
  /** ms until another instance could begin, unless the lease is renewed; Infinity if the tick is late for every instance. */
  readonly remaining: number;
  /**
   * @throws LockError `LOCK_LOST`
   * @example
   * const tick = Math.floor(Date.now() / 60_000) * 60_000; // the last full minute, on every instance the same
   * await locks.once('report', tick, async (run) => {
   *   const rows = await report(run.tick);
   *   run.assertHeld();
   *   await writeOrder(rows, run.token);
   * });
   */
  assertHeld(): void;
}

/** The work of a tick. */
export type TickWork<T> = (run: TickRun) => Promise<T> | T;

/**
 * Why this instance did not run the tick. `taken`: another instance runs it, or ran it. `failed`: without `retry`, the run failed on another
 * instance, and the engine lists that. `done`: with `retry`, the tick was run before. `late`, `early`: by the clock of this instance. `overlap`: an
 * earlier tick still runs.
 */
export type NotRun = 'taken' | 'failed' | 'done' | 'late' | 'early' | 'overlap';

/** Whether this instance ran the tick: the result of the function, or why it did not run. */
export type OnceResult<T> =
  | {
      readonly ran: true;
      readonly value: T;
      /** False only with `retry`: the engine did not answer, so the others may not know of the run. Another instance may run the tick again. */
      readonly recorded: boolean;
    }
  | {
      readonly ran: false;
      readonly reason: NotRun;
      /** The `label` of the instance that was first, or whose run failed, if the engine lists it. */
      readonly by?: string;
    };
