import { constants, hostname } from 'node:os';
import { basename } from 'node:path';
import { type Duration, milliseconds } from '../../core/duration.ts';
import type { AnyLease } from '../../core/lease.ts';
import { isLockError, type Locks } from '../../index.ts';
import { NotStarted, start } from '../child/start.ts';
import { supervise } from '../child/supervise.ts';
import { command } from '../command.ts';
import { open, URL_OPTION } from '../engine.ts';
import { UsageError } from '../exit.ts';
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
    if (rest.length === 0) throw new UsageError('the command is missing: holdfast run <key> -- <command>');
    if (values.shared && values.permits !== undefined)
      throw new UsageError('--shared and --permits exclude each other');
    const plan = timing(values.ttl ?? '30s', values.grace);
    await using locks = await open(values.url, {
      wait: time(values.wait),
      ttl: plan.ttl,
      notice: plan.notice,
      minHold: time(values['min-hold']),
      handOff: false, // there is one command in this process
      label: `${hostname()}:${process.pid} ${basename(rest[0]!)}`.slice(0, 128).toWellFormed(),
    });
    const lease = await interruptible((signal) => acquire(locks, key!, values, signal));
    if (typeof lease === 'number') return lease;
    try {
      const env = { ...process.env, HOLDFAST_KEY: key, HOLDFAST_TOKEN: lease.token?.toString() };
      return await supervise(lease, await start(rest, env), plan, ({ message }) => complain(message));
    } catch (error) {
      if (!(error instanceof NotStarted)) throw error;
      complain(error.message);
      return error.exitCode;
    } finally {
      // One that is lost is given up in the background: the engine may not even answer.
      if (!lease.signal.aborted) await lease.release();
    }
  },
});

/** A number alone is ms, as in the library; the flag is text. */
const time = (text: string | undefined): Duration | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : text;

/** When to ask the command to end, and when to kill it, so that it is over before the lease. */
export function timing(
  ttlText: string,
  graceText: string | undefined,
): { ttl: number; notice: number; grace: number; spare: number } {
  const ttl = milliseconds(time(ttlText)!, '--ttl');
  const most = Math.floor((ttl * 2) / 3);
  const grace = graceText === undefined ? Math.min(5_000, ttl / 3) : milliseconds(time(graceText)!, '--grace');
  if (grace > most) {
    throw new UsageError(`--grace is ${graceText}; of a lease of ${ttl} ms it may be two thirds, ${most} ms, at most`);
  }
  const spare = Math.min(250, ttl / 20);
  return { ttl, grace, spare: spare / 2, notice: Math.min(grace + spare, most) };
}

type Kind = { readonly shared?: boolean; readonly permits?: string };
type Taken = AnyLease & { readonly token?: bigint };

function acquire(locks: Locks, key: string, { shared, permits }: Kind, signal: AbortSignal): Promise<Taken> {
  if (permits !== undefined) return locks.semaphore(key, { permits: Number(permits) }).acquire({ signal });
  return shared ? locks.rwLock(key).read.acquire({ signal }) : locks.mutex(key).acquire({ signal });
}

/** What a wait gives, or the exit code of the signal that ended it. */
async function interruptible<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T | number> {
  const ended = new AbortController();
  const end = (name: NodeJS.Signals): void => ended.abort(name);
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) process.on(name, end);
  try {
    return await wait(ended.signal);
  } catch (error) {
    if (ended.signal.aborted && isLockError(error, 'LOCK_ABORTED'))
      return 128 + constants.signals[ended.signal.reason as NodeJS.Signals];
    throw error;
  } finally {
    for (const name of names) process.off(name, end);
  }
}
