import type { Backend } from '../core/backend.ts';
import { invalid } from '../core/errors.ts';
import { createLocks, type Locks, type LocksDefaults } from '../locks.ts';
import type { EngineUrl } from './engine.ts';
import { fileUrl } from './engines/file.ts';
import { memoryUrl } from './engines/memory.ts';
import { redisUrl } from './engines/redis.ts';
import { parseAddress } from './url.ts';

const ENGINES: readonly EngineUrl[] = [memoryUrl, fileUrl, redisUrl];

/**
 * Locks on the engine that a URL names. The connection is opened here, owned, and ended by `close()`.
 * @param url `memory:`, `file:./locks.db`, `redis://host`… Any takes `?prefix=`.
 * @throws LockError `LOCK_INVALID` for a bad URL, `LOCK_UNSUPPORTED` when the driver is not installed, `LOCK_UNAVAILABLE`
 * when the server cannot be reached. No message shows credentials.
 */
export async function connect(url: string, defaults?: LocksDefaults): Promise<Locks> {
  const backend = await open(url);
  try {
    return createLocks(backend, defaults);
  } catch (error) {
    await backend.close();
    throw error;
  }
}

async function open(url: string): Promise<Backend> {
  const address = parseAddress(url);
  const engine = ENGINES.find(({ schemes }) => schemes.includes(address.scheme));
  if (engine) return engine.open(address);
  throw invalid(
    `no engine has URLs of ${address.scheme}:; there are ${ENGINES.map(({ example }) => example).join(', ')}`,
  );
}
