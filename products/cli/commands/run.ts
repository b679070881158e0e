import { type AnyLease, type SharedOption, waitIn } from '../../../src/core/index.ts';
import type { LockOptions, Locks, LocksDefaults } from '../../../src/index.ts';
import { checkCommand, labelOf } from '../child/find.ts';
import { supervise } from '../child/supervise.ts';
import { timeIfGiven, timing } from '../child/timing.ts';
import { command } from '../command.ts';
import { ANSWER_TIMEOUT_MS, addressOf, openWithin, URL_OPTION } from '../engine.ts';
import { EXIT, UsageError } from '../exit.ts';
import { Interruption, Trouble } from '../interruption.ts';
import { complain } from '../terminal/screen.ts';

const HELP = `Run a command while holding a lock. Others that ask for the same key wait.

  holdfast run backup -- ./backup.sh                    one backup at a time, on this machine
  holdfast run -u redis://db1 backup -- ./backup.sh     one at a time, on all machines that use this Redis
  holdfast run report --wait 0 -- ./report.sh           do not wait: exit with 75 if another holds the lock
  holdfast run nightly --wait 0 --min-hold 1m -- ./job  once a night, even if clocks differ by seconds
  holdfast run cache --shared -- ./read.sh              many readers at a time, and no writer (a run without --shared)
  holdfast run crawl --permits 3 -- ./crawl.sh          at most three at a time

  -u, --url <url>     the engine (default $HOLDFAST_URL, else a local file)
  --wait <time>       how long to wait for the lock, and for an engine that is away; 0 tries once, forever has no limit
                      (default 30s for the lock, 10s for the engine)
  --ttl <time>        how long the lock outlives this process (default 30s); it is renewed while the command runs
  --min-hold <time>   hold the key at least this long, even if the command ends earlier
  --delay <time>      keep the key taken this long after a lease that was not renewed, at most 1m (default 0)
  --shared            share the lock with other readers
  --permits <n>       take one of n permits
  --grace <time>      time between SIGTERM and SIGKILL when the lock is lost (default 5s, at most two thirds of the ttl)
  --leave-running     release the lock when the command ends, even if processes that it started still run

A <time> is written as 250ms, 30s, 5m, 2h or 1d.

The command gets HOLDFAST_KEY in its environment and, without --shared and --permits, HOLDFAST_TOKEN. The token grows
with every holder: let the resource refuse writes with an older one. If the lock is lost, holdfast ends the command and
all processes that it started before anyone else can get the lock. Otherwise it releases the lock when all of them have
ended. Processes that left the command's process group do not count.

Exit code: the command's own; 128 + n if signal n ended the command or the wait; 75 the lock was not obtained in time;
69 the engine is not available, or the lock was lost although the command exited with 0; 64 wrong usage; 127 the command
was not found; 126 it cannot be executed.`;

export const run = command({
  name: 'run',
  summary: 'run a command while holding a lock',
  takes: ['<key>', '--', '<command>…'],
  options: {
    ...URL_OPTION,
    wait: { type: 'string' },
    ttl: { type: 'string' },
    'min-hold': { type: 'string' },
    delay: { type: 'string' },
    shared: { type: 'boolean' },
    permits: { type: 'string' },
    grace: { type: 'string' },
    'leave-running': { type: 'boolean' },
  },
  help: HELP,
  async run({ values, positionals: [key], rest }) {
    if (values.shared && values.permits !== undefined) throw new UsageError('use --shared or --permits, not both');
    if (values.permits !== undefined && !/^\d+$/.test(values.permits))
      throw new UsageError(`--permits is ${JSON.stringify(values.permits)}, not a number`);
    const plan = timing(values.ttl, values.grace);
    checkCommand(rest[0]!);
    const own = {
      wait: timeIfGiven(values.wait, '--wait'),
      ttl: plan.ttl,
      minHold: timeIfGiven(values['min-hold'], '--min-hold'),
      delay: timeIfGiven(values.delay, '--delay'),
    } satisfies Record<SharedOption<'run'>, unknown>;
    const wait = own.wait === undefined ? undefined : waitIn(own.wait, '--wait');
    using interruption = new Interruption();
    using trouble = new Trouble();
    const began = performance.now();
    const defaults: LocksDefaults = {
      ...own,
      notice: plan.notice,
      handOff: false, // this process has no other caller
      label: labelOf(rest[0]!),
    };
    const patience = { within: own.wait ?? ANSWER_TIMEOUT_MS, onError: trouble.report };
    await using locks = await openWithin(addressOf(values.url), defaults, interruption, patience);
    if (!locks) return interruption.exitCode!;
    const limited = wait !== undefined && wait > 0 && wait < Number.POSITIVE_INFINITY;
    const left = limited ? Math.max(1, wait - (performance.now() - began)) : own.wait;
    const lease = await acquire(locks, key!, values, { wait: left, signal: interruption.signal }).catch((error) => {
      if (interruption.exitCode === undefined) throw error;
    });
    if (!lease || interruption.exitCode !== undefined) return interruption.exitCode!;
    const env = { HOLDFAST_KEY: key, HOLDFAST_TOKEN: lease.token?.toString() };
    let code: number;
    let freed = true;
    try {
      code = await supervise(lease, rest, env, plan, { leaveRunning: values['leave-running'] });
    } finally {
      // A lost lease is released in the background: the engine may not even answer.
      if (!lease.signal.aborted) freed = await releaseAfterMinHold(lease);
    }
    if (freed || lease.signal.aborted || code !== EXIT.OK) return code;
    // `holdfast run … && deploy` must not deploy: somebody else may have had the lock before the command ended.
    complain(
      `the command succeeded, but the lock ${JSON.stringify(key)} was lost, or may have been lost, before its release`,
    );
    return EXIT.UNAVAILABLE;
  },
});

/**
 * Releases the lock, after `--min-hold` if only a live process can keep the key, or free it. A signal ends that wait.
 * @returns whether the lock was ours until now
 */
async function releaseAfterMinHold(lease: AnyLease): Promise<boolean> {
  using interruption = new Interruption();
  return await Promise.race([lease.release(), interruption.ended.then(() => true)]);
}

function acquire(
  locks: Locks,
  key: string,
  { shared, permits }: { readonly shared?: boolean; readonly permits?: string },
  options: Pick<LockOptions, 'wait' | 'signal'>,
): Promise<AnyLease & { readonly token?: bigint }> {
  if (permits !== undefined) return locks.semaphore(key, { permits: Number(permits) }).acquire(options);
  return shared ? locks.rwLock(key).read.acquire(options) : locks.mutex(key).acquire(options);
}
