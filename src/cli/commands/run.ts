import type { AnyLease } from '../../core/lease.ts';
import type { Locks } from '../../index.ts';
import { checkCommand, labelOf } from '../child/find.ts';
import { supervise } from '../child/supervise.ts';
import { timeIfGiven, timing } from '../child/timing.ts';
import { command } from '../command.ts';
import { open, URL_OPTION } from '../engine.ts';
import { EXIT, UsageError } from '../exit.ts';
import { Interruption } from '../interruption.ts';
import { complain } from '../terminal/say.ts';

const HELP = `Run a command while holding a lock. Anyone else who asks for the same key waits.

  holdfast run backup -- ./backup.sh                    one backup at a time, on this machine
  holdfast run -u redis://db1 backup -- ./backup.sh     on every machine that asks this Redis
  holdfast run report --wait 0 -- ./report.sh           do not wait: exit with 75 if it is taken
  holdfast run nightly --wait 0 --min-hold 1m -- ./job  once a night, though the clocks differ by seconds
  holdfast run cache --shared -- ./read.sh              many readers; none while somebody runs without --shared
  holdfast run crawl --permits 3 -- ./crawl.sh          at most three at a time

  -u, --url <url>     the engine (default $HOLDFAST_URL, else a file of yours)
  --wait <time>       how long to wait for the lock, 0 for one try (default: as long as it takes)
  --ttl <time>        how long the lock outlives this process (default 30s); it is renewed while the command runs
  --min-hold <time>   keep the key taken at least that long, even if the command ends earlier
  --delay <time>      keep the key taken that long after a hold that lapsed, 1m at most (default 0)
  --shared            take it together with other readers
  --permits <n>       take one of n permits
  --grace <time>      between SIGTERM and SIGKILL when the lock is lost (default 5s, at most two thirds of the ttl)
  --leave-running     give the lock back when the command has ended, though something it started still runs

A <time> is 250ms, 30s, 5m, 2h or 1d; a number alone is milliseconds.

The command finds HOLDFAST_KEY and, unless it shares the lock, HOLDFAST_TOKEN: a number that grows with every holder, to
be checked where it writes. If the lock is lost, the command and all it started are ended before anyone else has it. The
lock is given back when the command and all it started have ended, as far as they stayed in its process group.

Exit code: the command's own; 128 + n if signal n ended it; 75 the lock was not obtained; 69 the engine is not there, or
the lock was lost and the command itself says 0; 64 wrong usage; 127 and 126 no such command, or not one that runs.`;

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
    if (values.shared && values.permits !== undefined)
      throw new UsageError('--shared and --permits exclude each other');
    if (values.permits !== undefined && !/^\d+$/.test(values.permits))
      throw new UsageError(`--permits is ${JSON.stringify(values.permits)}, not a number`);
    const plan = timing(values.ttl ?? '30s', values.grace);
    checkCommand(rest[0]!);
    await using locks = await open(values.url, {
      wait: timeIfGiven(values.wait),
      ttl: plan.ttl,
      notice: plan.notice,
      minHold: timeIfGiven(values['min-hold']),
      delay: timeIfGiven(values.delay),
      handOff: false, // there is one command in this process
      label: labelOf(rest[0]!),
    });
    using interruption = new Interruption();
    const lease = await acquire(locks, key!, values, interruption.signal).catch((error) => {
      if (interruption.exitCode === undefined) throw error;
    });
    if (!lease || interruption.exitCode !== undefined) return interruption.exitCode!;
    const own = { HOLDFAST_KEY: key, HOLDFAST_TOKEN: lease.token?.toString() };
    let code: number;
    let freed = true;
    try {
      code = await supervise(lease, rest, own, plan, values['leave-running']);
    } finally {
      // A lost lease is released in the background: the engine may not even answer.
      if (!lease.signal.aborted) freed = await released(lease);
    }
    if (freed || lease.signal.aborted || code !== EXIT.OK) return code;
    // `holdfast run … && deploy` must not deploy: somebody else may have had the lock before the command ended.
    complain(`the command has ended well, but ${JSON.stringify(key)} was lost before its release, or may have been`);
    return EXIT.UNAVAILABLE;
  },
});

/**
 * Waits for the end of `--min-hold` if only a live process can keep the key. A signal ends that wait and frees the key.
 * @returns whether the lock was ours until now
 */
async function released(lease: AnyLease): Promise<boolean> {
  using interruption = new Interruption();
  return await Promise.race([lease.release(), interruption.ended.then(() => true)]);
}

function acquire(
  locks: Locks,
  key: string,
  { shared, permits }: { readonly shared?: boolean; readonly permits?: string },
  signal: AbortSignal,
): Promise<AnyLease & { readonly token?: bigint }> {
  if (permits !== undefined) return locks.semaphore(key, { permits: Number(permits) }).acquire({ signal });
  return shared ? locks.rwLock(key).read.acquire({ signal }) : locks.mutex(key).acquire({ signal });
}
