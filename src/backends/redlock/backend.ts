import { allOf, type Backend, checkNames, invalid, namesOf, shown } from '../../core/index.ts';
import { QUORUM_OPTIONS, type QuorumOptions, quorum } from '../quorum/index.ts';
import { type RedisClient, redis } from '../redis/index.ts';

/** Options of `redlock`. */
export interface RedlockOptions extends QuorumOptions {
  /** The prefix of all keys, the same on every server. Default `holdfast`. */
  readonly prefix?: string;
}

const KNOWN = allOf(QUORUM_OPTIONS, namesOf<Omit<RedlockOptions, keyof QuorumOptions>>({ prefix: true }));

/**
 * Keeps locks on three or more independent Redis servers, with one connected client for each. The caller closes the clients.
 * @throws LockError `LOCK_INVALID` for fewer than three clients, a client that is given twice, a client of a Cluster, or a bad option. Two clients of
 * one server are found at the first use.
 * @example
 * import { Redis } from 'ioredis';
 * const clients = ['redis-1', 'redis-2', 'redis-3'].map((host) => new Redis({ host }));
 * const locks = createLocks(redlock(clients));
 */
export function redlock(clients: readonly RedisClient[], options: RedlockOptions = {}): Backend {
  checkNames(options, KNOWN, 'options of redlock()');
  const { prefix, ...others } = options;
  if (!Array.isArray(clients) || clients.length < 3) {
    throw invalid(
      `redlock() needs clients of at least three independent servers, not ${shown((clients as unknown[])?.length)}: with fewer, none may be lost. For one, use redis()`,
    );
  }
  if (new Set(clients).size < clients.length) throw invalid('redlock() was given the same client twice');
  const nodes = clients.map((client) => redis(client, { prefix, clock: options.clock }));
  if (clients.some(isCluster)) {
    throw invalid('redlock() needs a client of one server each, not of a Cluster; for a Cluster alone use redis()');
  }
  return quorum(nodes, others);
}

/** True for a Cluster client of ioredis or of node-redis. */
function isCluster(client: RedisClient): boolean {
  return (client as { isCluster?: unknown }).isCluster === true || 'masters' in client;
}
