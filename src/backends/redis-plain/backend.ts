import { type Backend, type Claim, LockError } from '../../core/index.ts';
import { portOf, type RedisClient } from '../redis/client.ts';
import { FOREIGN, ForeignBackend, type Layout } from '../redis-foreign/backend.ts';
import { ForeignServer } from '../redis-foreign/server.ts';
import { type PlainNaming, type PlainRedisOptions, resolvePlainOptions } from './options.ts';
import { ATTEMPT, RELEASE, RENEW } from './scripts.generated.ts';

const NAME = 'redis-plain';

/** Where a token that is above the clock is kept until the clock has passed it. Only nodes of a quorum get such tokens. */
const RAISED = 'holdfast:raised:';
/** A script counts in doubles. */
const MAX_TOKEN = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Locks as most programs keep them in Redis (`SET key text NX PX ttl`, compare and delete), so that redlock, redis-semaphore, redsync, redis-py,
 * Spring's `RedisLockRegistry` and others are kept out, and keep us out: mutexes over the caller's connected client. The caller closes the
 * client.
 * @throws LockError `LOCK_INVALID` when it is not such a client, or an option is malformed
 * @example
 * import { Redis } from 'ioredis';
 * const locks = createLocks(plainRedis(new Redis(), { key: (name) => `mutex:${name}` }));
 */
export function plainRedis(client: RedisClient, options: PlainRedisOptions = {}): Backend {
  const { naming, clock } = resolvePlainOptions(options);
  const server = new ForeignServer(NAME, portOf(client, 'plainRedis()'), naming, clock);
  return new ForeignBackend(server, layoutOf(naming, server.port.cluster));
}

function layoutOf({ keyOf, channelsOf }: PlainNaming, cluster: boolean): Layout {
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
