import { shown } from '../core/errors.ts';
import type { Locks } from '../locks.ts';
import type { OnceOptions } from '../once/options.ts';
import type { TickRun } from '../once/run.ts';

/** Of a job that a cron library calls on every instance. */
export interface TaskOptions extends OnceOptions {
  /**
   * Told when it is not known here whether the tick is run, because the engine could not be asked, or an option is wrong; this
   * instance did not begin to run it. Default: a warning of the process. What the job throws goes to the cron library.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Runs one tick if it is this instance's to run. */
export async function runTick(
  locks: Locks,
  name: string,
  tickOf: () => Date,
  fn: (run: TickRun) => unknown,
  { onError = warning(name), ...options }: TaskOptions,
): Promise<void> {
  let began = false;
  try {
    await locks.once(
      name,
      tickOf(),
      (run) => {
        began = true;
        return fn(run);
      },
      options,
    );
  } catch (error) {
    if (began) throw error;
    onError(error);
  }
}

const warning = (name: string) => (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  process.emitWarning(`a tick of ${shown(name)} was not run here: ${message}`, 'HoldfastTickWarning');
};
