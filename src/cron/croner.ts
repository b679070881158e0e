import { invalid } from '../core/contract/errors.ts';
import type { Locks } from '../locks.ts';
import type { TickRun } from '../once/run.ts';
import { checkTask, runTick, type TaskOptions } from './task.ts';

/** What holdfast uses of a job of `croner`, from version 10 on. */
export interface CronerJob {
  readonly options: { readonly interval?: number };
  getOnce(): Date | null;
  previousRuns(count: number, reference?: Date): Date[];
}

/**
 * A function for `new Cron(pattern, task)`: of all instances one runs it, gets the tick, and learns of a loss. The tick is the
 * last time of the pattern, so instances that are called a little late agree on it.
 * @example
 * import { Cron } from 'croner';
 * const options = { timezone: 'Europe/Berlin', catch: (error: unknown) => console.warn(error) }; // or a job that fails ends the process
 * new Cron('0 3 * * *', options, cronerTask(locks, 'nightly-report', (run) => report(run.tick)));
 */
export function cronerTask<J extends CronerJob = CronerJob, C = unknown>(
  locks: Locks,
  name: string,
  fn: (run: TickRun, job: J, context: C) => unknown,
  options: TaskOptions = {},
): (job: J, context: C) => Promise<void> {
  checkTask(options, 'cronerTask()');
  return (job, context) => {
    const now = Date.now();
    const work = (run: TickRun): unknown => fn(run, job, context);
    return runTick(locks, name, () => tickOf(job, now), work, options);
  };
}

function tickOf(job: CronerJob, now: number): Date {
  if (job.options.interval)
    throw invalid(
      'a job of croner with an interval counts from its own start on each instance; give it a pattern instead',
    );
  if (typeof job.previousRuns !== 'function')
    throw invalid('cronerTask() needs previousRuns(), which croner has from version 10');
  const once = job.getOnce();
  if (once) return once;
  // It looks before the reference, and counts whole seconds.
  const [last] = job.previousRuns(1, new Date(Math.floor(now / 1_000) * 1_000 + 1));
  if (last) return last;
  throw invalid('croner called a job whose pattern names no time up to now');
}
