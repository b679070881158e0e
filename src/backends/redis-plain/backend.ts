import {
  type Backend,
  type Claim,
  type Clock,
  checkNames,
  invalid,
  LockError,
  namesOf,
  shown,
  systemClock,
} from '../../core/index.ts';
import { portOf, type RedisClient } from '../redis/client.ts';
import { FOREIGN, ForeignBackend, type ForeignLayout } from '../redis-foreign/backend.ts';
import { type ForeignNaming, ForeignServer, namingOf } from '../redis-foreign/server.ts';
import { ATTEMPT, RELEASE, RENEW } from './scripts.generated.ts';

const NAME = 'redis-plain';

/** The prefix of the keys that keep a token above the clock until the clock has passed it. Only nodes of a quorum get such tokens. */
const RAISED = 'holdfast:raised:';
/** The largest token, since a script counts in doubles. */
const MAX_TOKEN = BigInt(Number.MAX_SAFE_INTEGER);

/** Options of `plainRedis`. */
export interface PlainRedisOptions {
  /**
   * Gives the Redis key of a lock, such as `` (name) => `mutex:${name}` `` for redis-semaphore. Default: the name itself. `key` is called for each
   * lock, so the key may depend on the name. Two names must not have the same key.
   */
  readonly key?: (name: string) => string;
  /**
   * The registry key of Spring Integration's `RedisLockRegistry`, to share its locks: the Redis key is `registry:name`, and a release is published on
   * both channels that its versions listen to.
   */
  readonly registry?: string;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const KNOWN = namesOf<PlainRedisOptions>({ key: true, registry: true, clock: true });

/**
 * Keeps mutexes as most programs do in Redis (`SET key text NX PX ttl`, compare and delete), over the caller's connected client. So these mutexes
 * and the locks of redlock, redis-semaphore, redsync, redis-py, Spring's `RedisLockRegistry` and others exclude each other. The caller closes the client.
 * @throws LockError `LOCK_INVALID` when the client is of no known kind, or an option is malformed
 * @example
 * import { Redis } from 'ioredis';
 * const locks = createLocks(plainRedis(new Redis(), { key: (name) => `mutex:${name}` }));
 */
export function plainRedis(client: RedisClient, options: PlainRedisOptions = {}): Backend {
  checkNames(options, KNOWN, 'options of plainRedis()');
  const naming = plainNamingOf(options);
  const server = new ForeignServer(NAME, portOf(client, 'plainRedis()'), naming, options.clock ?? systemClock);
  return new ForeignBackend(server, layoutOf(naming, server.port.cluster));
}

/** The names of locks, and the channels of a registry. */
interface PlainNaming extends ForeignNaming {
  /** Gives the channels on which a release is published. The message is the key. */
  channelsOf(key: string): readonly string[];
}

/** @throws LockError `LOCK_INVALID` */
function plainNamingOf({ key, registry }: PlainRedisOptions): PlainNaming {
  if (registry === undefined) return { ...namingOf(key), channelsOf: () => [] };
  if (key) throw invalid('key and registry exclude each other: a registry says what its keys are');
  if (typeof registry !== 'string' || registry === '' || !registry.isWellFormed())
    throw invalid(`registry is ${shown(registry)}; it must be the registry key of a RedisLockRegistry`);
  // Waiters of Spring Integration up to 6.5.0 listen to the first channel, those of later versions to a channel for each key.
  const channelsOf = (of: string): string[] => [`${registry}-channel`, `${registry}-channel:${of}`];
  return { ...namingOf((name) => `${registry}:${name}`), channelsOf };
}

function layoutOf({ keyOf, channelsOf }: PlainNaming, cluster: boolean): ForeignLayout {
  return {
    traits: FOREIGN,
    attempt({ key: name, id, ttl, label, minToken = 0n }, limit) {
      checkToken(minToken, name, cluster);
      const key = keyOf(name);
      const keys = cluster ? [key] : [key, `${RAISED}${key}`];
      return { script: ATTEMPT, keys, args: [limit, `${Math.ceil(ttl)}`, id, `${minToken}`, label] };
    },
    renew: (claims: readonly Claim[]) => ({
      script: RENEW,
      keys: claims.map(({ key }) => keyOf(key)),
      args: claims.flatMap(({ id, ttl }) => [id, `${Math.ceil(ttl)}`]),
    }),
    release(name, hold) {
      const key = keyOf(name);
      const { id, token } = { id: '-', token: '-', ...hold };
      return { script: RELEASE, keys: [key], args: [id, `${token}`, key, ...channelsOf(key)] };
    },
    inspect: async (...args) => (await import('./inspect.ts')).inspectPlain(...args), // few programs call this
  };
}

function checkToken(minToken: bigint, name: string, cluster: boolean): void {
  const why =
    minToken > MAX_TOKEN
      ? 'gives no tokens above 2^53, which another node of its quorum does'
      : 'cannot be a node of a quorum on a Redis Cluster: a token above the clock would have to be kept in the slot of the lock';
  if (minToken <= MAX_TOKEN && (minToken <= 0n || !cluster)) return;
  throw new LockError('LOCK_UNSUPPORTED', `plainRedis() ${why}`, { backend: NAME, key: name });
}
