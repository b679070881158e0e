import { type Backend, type Duration, invalid, LockError, milliseconds, type StandIn, shown } from '../core/index.ts';
import { createLocks, type Locks, type LocksDefaults, runtimeOf } from '../locks.ts';
import { owning } from './engine.ts';
import { type ConnectOptions, closeQuietly, openBackend, patiently } from './open.ts';

/** How holds are renewed while the event loop is blocked. */
export interface RenewalOptions {
  /**
   * `worker`: a thread with a connection of its own renews the holds that this thread is late to renew, so that a blocked event loop loses no hold.
   * Default: no thread does. It is refused on memory, ZooKeeper, etcd and a quorum, and with a `clock`.
   */
  readonly renewal?: 'worker' | undefined;
  /** With `renewal: 'worker'`: how long the worker renews after this thread ran last. Default 2 m; 1 s to a day. */
  readonly stall?: Duration | undefined;
}

const DEFAULT_STALL = '2m';
const BOUNDS = { min: 1_000, max: 86_400_000 };

/**
 * @returns the stall in ms, if there is to be a worker, and the options of the locks
 * @throws LockError `LOCK_INVALID`
 */
function resolveRenewal(defaults: RenewalOptions & LocksDefaults): {
  readonly stall: number | undefined;
  readonly rest: LocksDefaults;
} {
  const { renewal, stall, ...rest } = defaults ?? {};
  if (defaults === null) return { stall: undefined, rest: defaults }; // createLocks refuses it
  if (renewal === undefined) {
    if (stall === undefined) return { stall, rest };
    throw invalid(`stall is ${shown(stall)}; it is for renewal: 'worker'`);
  }
  if (renewal !== 'worker') throw invalid(`renewal is ${shown(renewal)}; it must be 'worker', or be left out`);
  if (rest.clock) throw invalid(`renewal: 'worker' goes by the clock of the machine: leave clock out`);
  return { stall: milliseconds(stall ?? DEFAULT_STALL, 'stall', BOUNDS), rest };
}

/**
 * Makes a worker that ends with the backend.
 * @throws LockError `LOCK_UNSUPPORTED`; as `connect` does
 */
async function standInFor(backend: Backend, url: string | readonly string[], stall: number): Promise<StandIn> {
  if (backend.traits.renewedFrom !== 'anywhere') {
    const message = `${backend.name} takes no renewal: 'worker': only the connection that took a hold there can renew it. Leave renewal out, and keep the event loop free`;
    throw new LockError('LOCK_UNSUPPORTED', message, { backend: backend.name });
  }
  const { WorkerStandIn } = await import('./renewal/worker-stand-in.ts'); // few programs have a worker
  const standIn = await WorkerStandIn.begin(url, stall);
  owning(backend, () => standIn.end());
  return standIn;
}

export type { ConnectOptions } from './open.ts';

/** What all locks of the connection share, and where their holds are renewed. */
export interface ConnectDefaults extends LocksDefaults, RenewalOptions {}

/**
 * Locks on the engine that a URL names. The connection is opened here, and `close()` ends it. When it breaks, it is opened again.
 * @param url `memory:`, `file:./locks.db`, `redis://host`… Every server takes `?prefix=`; the page of the engine lists all parameters. Several URLs
 * make a quorum of their engines.
 * @param options what to do while the server is not there yet; by default there is one attempt
 * @throws LockError `LOCK_INVALID` for a bad URL, `LOCK_UNSUPPORTED` when the driver is not installed, or the engine cannot do what `renewal` says,
 * `LOCK_UNAVAILABLE` when the server cannot be reached within 5 s, or within `within`, `LOCK_ABORTED`. No error shows credentials.
 * @example const locks = await connect('redis://127.0.0.1', { wait: '5s' });
 */
export async function connect(
  url: string | readonly string[],
  defaults: ConnectDefaults = {},
  options: ConnectOptions = {},
): Promise<Locks> {
  const { stall, rest } = resolveRenewal(defaults);
  const open = async () => {
    const backend = await openBackend(url);
    try {
      return { backend, standIn: stall === undefined ? undefined : await standInFor(backend, url, stall) };
    } catch (error) {
      await closeQuietly(backend);
      throw error;
    }
  };
  const { backend, standIn } = await patiently(open, ({ backend }) => closeQuietly(backend), options);
  try {
    const locks = createLocks(backend, rest);
    runtimeOf(locks, 'connect()').watchdog.standIn = standIn;
    return locks;
  } catch (error) {
    await closeQuietly(backend);
    throw error;
  }
}
