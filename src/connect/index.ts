import { createLocks, type Locks, type LocksDefaults } from '../locks.ts';
import { closed, openBackend } from './open.ts';
import { type ConnectOptions, patiently } from './patience.ts';

export type { ConnectOptions } from './patience.ts';

/**
 * Locks on the engine that a URL names. The connection is opened here, and `close()` ends it. Once open, it is mended by itself.
 * @param url `memory:`, `file:./locks.db`, `redis://host`… Every server takes `?prefix=`; its page lists all parameters.
 * Several URLs make a quorum of their engines.
 * @param options what to do while the server is not there yet; by default it is asked once
 * @throws LockError `LOCK_INVALID` for a bad URL, `LOCK_UNSUPPORTED` when the driver is not installed, `LOCK_UNAVAILABLE`
 * when the server cannot be reached within 5 s, or within `within`, `LOCK_ABORTED`. No error shows credentials.
 * @example const locks = await connect('redis://127.0.0.1', { wait: '5s' });
 */
export async function connect(
  url: string | readonly string[],
  defaults?: LocksDefaults,
  options: ConnectOptions = {},
): Promise<Locks> {
  const backend = await patiently(() => openBackend(url), closed, options);
  try {
    return createLocks(backend, defaults);
  } catch (error) {
    await closed(backend);
    throw error;
  }
}
