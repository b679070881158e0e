import { once } from 'node:events';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import type { AnyLease } from '../../core/lease.ts';
import type { Locks } from '../../index.ts';
import { start } from '../child/start.ts';
import { supervise } from '../child/supervise.ts';
import { time, timing } from '../child/timing.ts';
import { command } from '../command.ts';
import { open, URL_OPTION } from '../engine.ts';
import { UsageError } from '../exit.ts';
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
  --shared            take it together with other readers
  --permits <n>       take one of n permits
  --grace <time>      between SIGTERM and SIGKILL when the lock is lost (default 5s, at most two thirds of the ttl)

A <time> is 250ms, 30s, 5m, 2h or 1d; a number alone is milliseconds.

The command finds HOLDFAST_KEY and, unless it shares the lock, HOLDFAST_TOKEN: a number that grows with every holder, to
be checked where it writes. If the lock is lost, the command and all it started are ended before anyone else has it.

Exit code: the command's own; 128 + n if signal n ended it; 75 the lock was not obtained; 69 the engine is not there;
64 wrong usage; 127 and 126 no such command, or not one that runs.`;

export const run = command({
  name: 'run',
  summary: 'run a command while holding a lock',
  takes: ['<key>', '--', '<command>…'],
  options: {
    ...URL_OPTION,
    wait: { type: 'string' },
    ttl: { type: 'string' },
    'min-hold': { type: 'string' },
    shared: { type: 'boolean' },
    permits: { type: 'string' },
    grace: { type: 'string' },
  },
  help: HELP,
  async run({ values, positionals: [key], rest }) {
    if (values.shared && values.permits !== undefined)
      throw new UsageError('--shared and --permits exclude each other');
    if (values.permits !== undefined && !/^\d+$/.test(values.permits))
      throw new UsageError(`--permits is ${JSON.stringify(values.permits)}, not a number`);
    const plan = timing(values.ttl ?? '30s', values.grace);
    await using locks = await open(values.url, {
      wait: values.wait && time(values.wait),
      ttl: plan.ttl,
      notice: plan.notice,
      minHold: values['min-hold'] && time(values['min-hold']),
      handOff: false, // there is one command in this process
      label: `${hostname()}:${process.pid} ${basename(rest[0]!)}`.slice(0, 128).toWellFormed(),
    });
    using interruption = new Interruption();
    const lease = await acquire(locks, key!, values, interruption.signal).catch((error) => {
      if (interruption.exitCode === undefined) throw error;
    });
    if (!lease || interruption.exitCode !== undefined) return interruption.exitCode!;
    const env = { ...process.env, HOLDFAST_KEY: key, HOLDFAST_TOKEN: lease.token?.toString() };
    try {
      return await supervise(
        lease,
        () => start(rest, env),
        plan,
        ({ message }) => complain(message),
      );
    } finally {
      // One that is lost is given up in the background: the engine may not even answer.
      if (!lease.signal.aborted) await released(lease);
    }
  },
});

/** Until the end of `--min-hold`, where only a process that lives can keep the key; a signal ends that, and the key is free. */
async function released(lease: AnyLease): Promise<void> {
  using interruption = new Interruption();
  await Promise.race([lease.release(), once(interruption.signal, 'abort')]);
}

type Kind = { readonly shared?: boolean; readonly permits?: string };
type Taken = AnyLease & { readonly token?: bigint };

function acquire(locks: Locks, key: string, { shared, permits }: Kind, signal: AbortSignal): Promise<Taken> {
  if (permits !== undefined) return locks.semaphore(key, { permits: Number(permits) }).acquire({ signal });
  return shared ? locks.rwLock(key).read.acquire({ signal }) : locks.mutex(key).acquire({ signal });
}
