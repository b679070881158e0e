import { createLocks, type Locks, type LocksDefaults, runtimeOf } from '../locks.ts';
import { closeQuietly, openBackend } from './open.ts';
import { type ConnectOptions, patiently } from './patience.ts';
import { type RenewalOptions, resolveRenewal, standInFor } from './renewal/options.ts';

export type { ConnectOptions } from './patience.ts';
export type { RenewalOptions } from './renewal/options.ts';

/** What all locks of the connection share, and where their holds are renewed. */
export interface ConnectDefaults extends LocksDefaults, RenewalOptions {}

/**
 * Locks on the engine that a URL names. The connection is opened here, and `close()` ends it. Once open, it is mended by itself.
 * @param url `memory:`, `file:./locks.db`, `redis://host`… Every server takes `?prefix=`; its page lists all parameters.
 * Several URLs make a quorum of their engines.
 * @param options what to do while the server is not there yet; by default it is asked once
 * @throws LockError `LOCK_INVALID` for a bad URL, `LOCK_UNSUPPORTED` when the driver is not installed, or the engine cannot do what
 * `renewal` says, `LOCK_UNAVAILABLE` when the server cannot be reached within 5 s, or within `within`, `LOCK_ABORTED`. No error shows
 * credentials.
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
