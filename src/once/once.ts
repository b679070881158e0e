import { invalid, shown } from '../core/errors.ts';
import type { LockOptions } from '../core/options.ts';
import type { LockRuntime } from '../core/runtime.ts';
import { TickAttempt } from './attempt.ts';
import { type OnceOptions, oncePlan } from './options.ts';
import { recordOf } from './record.ts';
import type { TickRun } from './run.ts';
import type { Tick } from './tick.ts';

/**
 * Why this instance did not run the tick. `taken`: another instance runs it, or has. `done`: with `retry`, it was run before.
 * `late`, `early`: by the clock of this instance. `overlap`: an earlier tick still runs.
 */
export type NotRun = 'taken' | 'done' | 'late' | 'early' | 'overlap';

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
      /** The `label` of the instance that was first, if the engine tells. */
      readonly by?: string;
    };

/** The work of a tick. */
export type TickWork<T> = (run: TickRun) => Promise<T> | T;

/** @internal Use `locks.once`. */
export async function once<T>(
  runtime: LockRuntime,
  name: string,
  tick: Tick,
  fn: TickWork<T>,
  defaults: LockOptions,
  options: OnceOptions | undefined,
): Promise<OnceResult<T>> {
  const plan = oncePlan(runtime.engine.backend.traits, name, tick, defaults, options);
  if (typeof fn !== 'function') throw invalid(`once() needs a function, not ${shown(fn)}`, name);
  return new TickAttempt(runtime, name, plan, recordOf(runtime, plan)).use(fn);
}
