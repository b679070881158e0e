import { createLocks, type Locks, type LocksDefaults } from '../locks.ts';
import { closed, openBackend } from './open.ts';

/**
 * Locks on the engine that a URL names. The connection is opened here, and `close()` ends it.
 * @param url `memory:`, `file:./locks.db`, `redis://host`… Every server takes `?prefix=`; its page lists all parameters.
 * Several URLs make a quorum of their engines.
 * @throws LockError `LOCK_INVALID` for a bad URL, `LOCK_UNSUPPORTED` when the driver is not installed, `LOCK_UNAVAILABLE`
 * when the server cannot be reached within 5 s. No error shows credentials.
 * @example const locks = await connect('redis://127.0.0.1', { wait: '5s' });
 */
export async function connect(url: string | readonly string[], defaults?: LocksDefaults): Promise<Locks> {
  const backend = await openBackend(url);
  try {
    return createLocks(backend, defaults);
  } catch (error) {
    await closed(backend);
    throw error;
  }
}
