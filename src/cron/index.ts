import { allOf, callListener, checkNames, invalid, namesOf, reasonOf, shown, systemClock } from '../core/index.ts';
import type { Locks } from '../locks.ts';
import { ONCE_OPTIONS, type OnceOptions } from '../once/options.ts';
import type { TickRun } from '../once/run.ts';

/** Options of a job that a cron library calls on every instance. */
export interface TaskOptions extends OnceOptions {
  /**
   * Gets the error if the engine did not answer or an option is wrong. Then this instance did not begin to run the tick, and
   * does not know whether another instance did. Default: a warning of the process. The cron library gets what the job throws.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const OPTIONS = allOf(ONCE_OPTIONS, namesOf<Omit<TaskOptions, keyof OnceOptions>>({ onError: true }));

/** What holdfast uses of a job of `croner`, from version 10 on. */
export interface CronerJob {
  readonly options: { readonly interval?: number };
  getOnce(): Date | null;
  previousRuns(count: number, reference?: Date): Date[];
}

/**
 * Makes the task for `new Cron(pattern, task)`. One of all instances runs `fn`, with the tick and a signal that reports a lost lease.
 * The tick is the last time of the pattern, so instances that are called a little late agree on it.
 * @example
 * import { Cron } from 'croner';
 * const options = { timezone: 'Europe/Berlin', catch: (error: unknown) => console.warn(error) }; // without catch, a job that fails ends the process
 * new Cron('0 3 * * *', options, cronerTask(locks, 'nightly-report', (run) => report(run.tick)));
 */
export function cronerTask<J extends CronerJob = CronerJob, C = unknown>(
  locks: Locks,
  name: string,
  fn: (run: TickRun, job: J, context: C) => unknown,
  options: TaskOptions = {},
): (job: J, context: C) => Promise<void> {
  checkNames(options, OPTIONS, 'the options of cronerTask()'); // wrong options throw now, not at the first tick
  return (job, context) => {
    const work = (run: TickRun): unknown => fn(run, job, context);
    return runTick(locks, name, () => tickOf(job, Date.now()), work, options);
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
  // `previousRuns` finds only times before the reference, in whole seconds. So the reference is 1 ms after the second.
  const [last] = job.previousRuns(1, new Date(Math.floor(now / 1_000) * 1_000 + 1));
  if (last) return last;
  throw invalid('croner called a job whose pattern names no time up to now');
}

/** The `RunCoordinator` of `node-cron` (from 4.6), which decides which instance runs a tick. */
export interface NodeCronCoordinator {
  /** Whether this instance begins the run. After `ttlMs`, in ms, the run counts as over. */
  shouldRun(key: string, ttlMs: number): Promise<boolean>;
  /** Ends the run that began here. */
  onComplete(key: string): Promise<void>;
}

/** The used part of what `node-cron` passes to a task. */
export interface NodeCronContext {
  /** When the run was due. */
  readonly date: Date;
}

/** A key of `node-cron`: the name of the task, and when the run was due. */
const KEY = /^(.+):(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)$/su;

/**
 * Decides for the `distributed` tasks of `node-cron` which instance runs them. A run lasts until it is complete, or for the
 * `distributedLease` of its task (default 30 s). If the engine does not answer, `node-cron` skips the run and says so.
 * @throws LockError `LOCK_INVALID`
 * @example
 * import cron from 'node-cron';
 * cron.setRunCoordinator(nodeCronCoordinator(locks));
 * cron.schedule('0 3 * * *', () => report(), { name: 'nightly-report', distributed: true });
 */
export function nodeCronCoordinator(locks: Locks, options: OnceOptions = {}): NodeCronCoordinator {
  if (typeof locks?.once !== 'function') throw invalid(`nodeCronCoordinator() needs Locks, not ${shown(locks)}`);
  checkNames(options, ONCE_OPTIONS, 'the options of nodeCronCoordinator()');
  /** For each run that began here, a function that completes it, and resolves when `locks.once` has settled. */
  const begun = new Map<string, () => Promise<unknown>>();
  return {
    async shouldRun(key, ttlMs) {
      const [, name, due] = KEY.exec(key) ?? [];
      if (name === undefined) throw invalid(`${shown(key)} is no key of node-cron; that is name:time, as 4.6 makes it`);
      const answer = Promise.withResolvers<boolean>();
      const complete = Promise.withResolvers<void>();
      const run = async ({ signal }: TickRun): Promise<void> => {
        begun.set(key, () => {
          complete.resolve();
          return over;
        });
        answer.resolve(true);
        // If the task has its own process, and that process dies, `onComplete` is never called.
        const cancel = systemClock.after(ttlMs, complete.resolve, true);
        signal.addEventListener('abort', () => complete.resolve(), { once: true });
        await complete.promise;
        begun.delete(key); // only here: a second question for this key ends before the run does
        cancel();
      };
      const tick = locks.once(name, due!, run, options);
      const over: Promise<unknown> = tick.then(() => answer.resolve(false), answer.reject);
      return answer.promise;
    },
    async onComplete(key) {
      await begun.get(key)?.();
    },
  };
}

/**
 * Makes a task for `cron.schedule(expression, task)`, without a coordinator. One of all instances runs `fn`, with the tick and
 * a signal that reports a lost lease.
 * @example
 * import cron from 'node-cron';
 * cron.schedule('0 3 * * *', nodeCronTask(locks, 'nightly-report', (run) => report(run.tick), { within: '10m' }));
 */
export function nodeCronTask(
  locks: Locks,
  name: string,
  fn: (run: TickRun) => unknown,
  options: TaskOptions = {},
): (context: NodeCronContext) => Promise<void> {
  checkNames(options, OPTIONS, 'the options of nodeCronTask()');
  return ({ date }) => runTick(locks, name, () => date, fn, options);
}

async function runTick(
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

const warning = (name: string) => (error: unknown) =>
  process.emitWarning(`a tick of ${shown(name)} was not run here: ${reasonOf(error)}`, 'HoldfastTickWarning');
