import { allOf, callListener, checkNames, namesOf, shown } from '../core/index.ts';
import type { Locks } from '../locks.ts';
import { ONCE_OPTIONS, type OnceOptions } from '../once/options.ts';
import type { TickRun } from '../once/run.ts';

/** Options of a job that a cron library calls on every instance. */
export interface TaskOptions extends OnceOptions {
  /**
   * Gets the error if the engine did not answer or an option is wrong. Then this instance did not begin to run the tick, and
   * does not know whether another one did. Default: a warning of the process. The cron library gets what the job throws.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const OPTIONS = allOf(ONCE_OPTIONS, namesOf<Omit<TaskOptions, keyof OnceOptions>>({ onError: true }));

/**
 * Checks the names now, where they were written, and not at the first tick.
 * @throws LockError `LOCK_INVALID`
 */
export const checkTask = (options: TaskOptions, of: string): void =>
  checkNames(options, OPTIONS, `the options of ${of}`);

/** Runs one tick if it is this instance's turn. */
export async function runTick(
  locks: Locks,
  name: string,
  tickOf: () => Date,
  fn: (run: TickRun) => unknown,
  { onError = warning(name), ...options }: TaskOptions,
): Promise<void> {
  let began = false;
  const work = (run: TickRun): unknown => {
    began = true;
    return fn(run);
  };
  try {
    await locks.once(name, tickOf(), work, options);
  } catch (error) {
    if (began) throw error;
    callListener(`onError of ${shown(name)}`, onError, error);
  }
}

const warning = (name: string) => (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  process.emitWarning(`a tick of ${shown(name)} was not run here: ${message}`, 'HoldfastTickWarning');
};
