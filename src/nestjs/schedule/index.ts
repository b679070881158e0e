import { Cron, type CronOptions, SchedulerRegistry } from '@nestjs/schedule';
import { allOf, checkNames, invalid, namesOf, sharedWith, shown } from '../../core/index.ts';
import { type CronTimeLike, lastTime } from '../../cron/cron-time.ts';
import { placeOf } from '../../decorator/place.ts';
import type { OnceOptions } from '../../once/options.ts';
import type { TickRun } from '../../once/run.ts';
import { keysOf } from '../../once/tick.ts';
import { addRole, type LocksHost } from '../host.ts';

/** The options of `locks.once` and `@Cron`, without `signal` and `name`. The end of the application aborts the run. */
export type OnceCronOptions = Omit<OnceOptions, 'signal'> & Omit<CronOptions, 'name'>;

type TickMethod = (run: TickRun) => Promise<unknown>;

/** Decorates a method, as a legacy decorator (`experimentalDecorators`) or a standard one. */
export interface OnceCronDecorator {
  <M extends TickMethod>(target: object, name: string | symbol, descriptor: TypedPropertyDescriptor<M>): void;
  <M extends TickMethod>(method: M, context: { readonly kind: 'method'; readonly name: string | symbol }): M;
}

/** The used parts of a job in Nest's registry. */
interface Job {
  readonly cronTime: CronTimeLike;
  lastDate(): Date | null;
}

/** The options of `@Cron` in all its versions. The compiler cannot check the list: the installed types are of one version. */
const OF_CRON = namesOf({
  timeZone: true,
  utcOffset: true,
  unrefTimeout: true,
  waitForCompletion: true,
  disabled: true,
  threshold: true,
  initialDelay: true,
});
const { signal: _, ...SHARED } = sharedWith('once');
const OF_ONCE = namesOf<Omit<OnceOptions, 'signal'>>({
  ...SHARED,
  within: true,
  skew: true,
  retry: true,
  overlap: true,
});
const NAMES = allOf(OF_ONCE, OF_CRON);

/**
 * `@Cron` for an application with several instances: at each time of the expression, one instance calls the method with a
 * `TickRun`. If the method throws, another instance calls it, but only with `retry`; without `retry` the tick is done. The decorator
 * needs `ScheduleModule.forRoot()` and `LocksModule.forRoot()`.
 * @param name of the job: the same on all instances, and unique among all jobs with this engine and prefix. It is also the
 * name in Nest's registry
 * @throws LockError `LOCK_INVALID` for a bad name or unknown option when the class is made, for a bad option when the application starts
 * @example
 * ```ts
 * import type { TickRun } from 'holdfast';
 * class Reports {
 *   @OnceCron('0 3 * * *', 'nightly-report', { retry: true, timeZone: 'Europe/Berlin' })
 *   async nightly(run: TickRun): Promise<void> {
 *     await report(run.tick, run.token, run.signal);
 *   }
 * }
 * ```
 */
export function OnceCron(
  expression: Parameters<typeof Cron>[0],
  name: string,
  options: OnceCronOptions = {},
): OnceCronDecorator {
  keysOf(name, 0); // checks the name now
  checkNames(options, NAMES, 'the options of @OnceCron');
  const given = Object.entries(options);
  const once: OnceOptions = Object.fromEntries(given.filter(([option]) => !OF_CRON.has(option)));
  const others = given.filter(([option]) => OF_CRON.has(option));
  return ((...decorated: unknown[]) => {
    const { name: method, method: work, put } = placeOf(decorated, '@OnceCron');
    const hosts = new WeakMap<object, LocksHost>();
    async function tick(this: object): Promise<void> {
      const host = hosts.get(this);
      if (!host)
        throw invalid(`@OnceCron(…, ${shown(name)}) is on ${method}, of an application without LocksModule.forRoot()`);
      const { stopped } = host.work;
      if (stopped.aborted) return; // another instance runs this tick
      // If a job is due while the scheduler makes it, it runs before the registry has it. `tickOf` reads the registry, so we wait.
      await undefined;
      const tick = tickOf(host, name);
      const run = (tickRun: TickRun) => Reflect.apply(work, this, [tickRun]);
      await host.work.run(this, () => host.locks.once(name, tick, run, { ...once, signal: stopped }));
    }
    const placed = put(tick);
    addRole(tick, {
      decorator: '@OnceCron',
      async prepare(host, { owner }) {
        checkRegistry(host);
        // The tick 0 is of 1970, too late to run. So this call only checks the options.
        await host.locks.once(name, 0, () => {}, once);
        hosts.set(owner, host);
      },
    });
    Cron(expression, { ...(Object.fromEntries(others) as CronOptions), name })(tick, method, undefined as never);
    return placed;
  }) as OnceCronDecorator;
}

/** The scheduled time of the current call. The scheduler does not pass this time, so we compute it from the job's schedule. */
function tickOf(host: LocksHost, name: string): Date {
  const job = host.moduleRef.get(SchedulerRegistry, { strict: false }).getCronJob(name) as unknown as Job;
  const called = job.lastDate() ?? new Date();
  const tick = lastTime(job.cronTime, called);
  if (tick) return tick;
  throw invalid(`the job ${shown(name)} was called, and its schedule names no time up to ${called.toISOString()}`);
}

function checkRegistry({ moduleRef }: LocksHost): void {
  try {
    moduleRef.get(SchedulerRegistry, { strict: false });
  } catch (cause) {
    const error = invalid('@OnceCron needs ScheduleModule.forRoot() of @nestjs/schedule in the root module');
    throw Object.assign(error, { cause });
  }
}
