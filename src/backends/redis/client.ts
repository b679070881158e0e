import type { EventEmitter } from 'node:events';
import { LockError } from '../../core/index.ts';
import {
  type IoredisClusterLike,
  type NodeRedisClusterLike,
  overIoredisCluster,
  overNodeRedisCluster,
} from './cluster-clients.ts';
import { type BunRedisLike, type GlideLike, overBunRedis, overGlide } from './glide-and-bun.ts';
import { type IoredisLike, overIoredis } from './ioredis.ts';
import { type NodeRedisLike, overNodeRedis } from './node-redis.ts';
import { type NodeRedisSentinelLike, overNodeRedisSentinel } from './node-redis-sentinel.ts';
import type { Port } from './port.ts';

/**
 * A client of Redis that you have: `ioredis`, `iovalkey` or `redis` (node-redis), of one server, of a Cluster or behind sentinels; or
 * `GlideClient` of Valkey GLIDE or `RedisClient` of Bun, of one server.
 */
export type RedisClient =
  | IoredisLike
  | IoredisClusterLike
  | NodeRedisLike
  | NodeRedisClusterLike
  | NodeRedisSentinelLike
  | GlideLike
  | BunRedisLike;

/** The kinds of clients. A client is of the first kind whose methods (`can`) it has. */
const KINDS: readonly { readonly can: readonly string[]; over(client: never): Port }[] = [
  { can: ['evalsha', 'eval', 'call', 'nodes'], over: overIoredisCluster },
  { can: ['evalsha', 'eval', 'call', 'duplicate'], over: overIoredis },
  { can: ['sendCommand', 'nodeClient', 'duplicate', 'destroy'], over: withErrorListener(overNodeRedisCluster) },
  { can: ['_execute', 'getMasterNode', 'duplicate'], over: withErrorListener(overNodeRedisSentinel) },
  {
    can: ['evalSha', 'eval', 'sendCommand', 'duplicate', 'subscribe', 'destroy'],
    over: withErrorListener(overNodeRedis),
  },
  { can: ['send', 'getBuffer', 'duplicate', 'subscribe'], over: overBunRedis },
  { can: ['customCommand', 'invokeScript', 'close'], over: overGlide },
];

/** Kinds of clients that cannot be used, each with the reason. */
const UNFIT: readonly { readonly can: readonly string[]; readonly why: string }[] = [
  {
    can: ['execute', 'sendCommand', 'connect'],
    why: 'createClientPool() is none of them: it has no connection to listen on',
  },
  {
    can: ['customCommand', 'invokeScriptWithRoute'],
    why: 'GlideClusterClient does not say which node has a key: for a Cluster, use ioredis or node-redis',
  },
];

/**
 * Adds a listener for errors if there is none: otherwise the `error` event of node-redis for a broken connection ends the process. (ioredis only
 * prints it.) The listener may ignore the error, since the calls that fail report it.
 */
function withErrorListener<C extends object>(over: (client: C) => Port): (client: C) => Port {
  return (client) => {
    const emitter = client as Partial<EventEmitter>;
    if (emitter.listenerCount?.('error') === 0) emitter.on?.('error', () => {});
    return over(client);
  };
}

/**
 * @param user the function that was given the client, for the message
 * @throws LockError `LOCK_INVALID` if the client is of no known kind
 */
export function portOf(client: RedisClient, user = 'redis()'): Port {
  const why = UNFIT.find(({ can }) => has(client, can))?.why;
  const kind = why ? undefined : KINDS.find(({ can }) => has(client, can));
  if (kind) return kind.over(client as never);
  throw new LockError(
    'LOCK_INVALID',
    `${user} needs a connected client: new Redis() or new Cluster() of ioredis (5 or newer), or createClient() or ` +
      `createCluster() of redis (node-redis 5 or newer), or its createSentinel() (6 or newer); or GlideClient of Valkey GLIDE, or RedisClient of Bun${why ? `; ${why}` : ''}`,
    { backend: 'redis' },
  );
}

function has(client: unknown, methods: readonly string[]): boolean {
  if (typeof client !== 'object' || client === null) return false;
  return methods.every((method) => typeof (client as Record<string, unknown>)[method] === 'function');
}
