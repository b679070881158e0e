import type { TickRun } from './run.ts';

/**
 * Why this instance did not run the tick. `taken`: another instance runs it, or has. `failed`: without `retry`, its run failed on another
 * instance, if the engine tells. `done`: with `retry`, it was run before. `late`, `early`: by the clock of this instance. `overlap`: an
 * earlier tick still runs.
 */
export type NotRun = 'taken' | 'failed' | 'done' | 'late' | 'early' | 'overlap';

/** Whether this instance ran the tick: the result of the function, or why it did not run. */
export type OnceResult<T> =
  | {
      readonly ran: true;
      readonly value: T;
      /**
       * False only with `retry`: the engine did not answer, so nobody knows whether the others know of the run. Another
       * instance may run the tick again.
       */
      readonly recorded: boolean;
    }
  | {
      readonly ran: false;
      readonly reason: NotRun;
      /** The `label` of the instance that was first, or whose run failed, if the engine tells. */
      readonly by?: string;
    };

/** The work of a tick. */
export type TickWork<T> = (run: TickRun) => Promise<T> | T;
