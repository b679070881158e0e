import { invalid } from '../core/errors.ts';
import { createLocks, type Locks, type LocksDefaults } from '../locks.ts';
import { bounded } from './bounded.ts';
import type { EngineUrl, Opened } from './engine.ts';
import { etcdUrl } from './engines/etcd.ts';
import { fileUrl } from './engines/file.ts';
import { memoryUrl } from './engines/memory.ts';
import { mongodbUrl } from './engines/mongodb.ts';
import { mysqlUrl } from './engines/mysql.ts';
import { postgresUrl } from './engines/postgres.ts';
import { redisUrl } from './engines/redis.ts';
import { redlockUrl } from './engines/redlock.ts';
import { zookeeperUrl } from './engines/zookeeper.ts';
import { several } from './several.ts';
import { type Address, parseAddress } from './url.ts';

const ENGINES: readonly EngineUrl[] = [
  memoryUrl,
  fileUrl,
  redisUrl,
  redlockUrl,
  postgresUrl,
  mysqlUrl,
  mongodbUrl,
  etcdUrl,
  zookeeperUrl,
];

/**
 * Locks on the engine that a URL names. The connection is opened here, owned, and ended by `close()`.
 * @param url `memory:`, `file:./locks.db`, `redis://host`… Every server takes `?prefix=`, and its page says what else.
 * Several URLs are a quorum of what they name.
 * @throws LockError `LOCK_INVALID` for a bad URL, `LOCK_UNSUPPORTED` when the driver is not installed, `LOCK_UNAVAILABLE`
 * when the server cannot be reached within 5 s. No error shows credentials.
 */
export async function connect(url: string | readonly string[], defaults?: LocksDefaults): Promise<Locks> {
  const { backend, reached } = await (Array.isArray(url) ? several(url.map(open)) : open(url as string));
  try {
    await reached;
    return createLocks(backend, defaults);
  } catch (error) {
    await bounded(backend.close()).catch(() => {}); // what went wrong first is what to tell
    throw error;
  }
}

async function open(url: string): Promise<Opened> {
  const address = parseAddress(url);
  const engine = ENGINES.find(({ schemes }) => schemes.includes(address.scheme));
  if (!engine) {
    const examples = ENGINES.map(({ example }) => example).join(', ');
    throw invalid(`no engine has URLs of ${address.scheme}:; there are ${examples}`);
  }
  if (engine.params !== 'any') checkParams(address, engine.params);
  return engine.open(address);
}

/** One that is misspelt, or stands behind another, must not be ignored: it might have been the one that asks for TLS. */
function checkParams({ scheme, params }: Address, known: readonly string[]): void {
  for (const name of params.keys()) {
    if (!known.includes(name)) throw invalid(`${scheme}: has no ?${name}=; there are ${known.join(', ') || 'none'}`);
    if (params.getAll(name).length > 1) throw invalid(`?${name}= is given more than once`);
  }
}
