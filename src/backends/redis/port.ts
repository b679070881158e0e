import type { EventEmitter } from 'node:events';
import { LockError } from '../../core/contract/errors.ts';
import { type IoredisLike, overIoredis } from './ioredis.ts';
import { type IoredisClusterLike, overIoredisCluster } from './ioredis-cluster.ts';
import { type NodeRedisLike, overNodeRedis } from './node-redis.ts';
import { type NodeRedisClusterLike, overNodeRedisCluster } from './node-redis-cluster.ts';
import { type NodeRedisSentinelLike, overNodeRedisSentinel } from './node-redis-sentinel.ts';

/** A client library as this backend needs it. */
export interface Port {
  /**
   * One more connection like the client's, to the server that has a slot. It is never mended, and ends with the signal; `lost`
   * is called when it ends by itself.
   */
  ownConnection(slot: number, over: AbortSignal, lost: () => void): Promise<OwnConnection>;
  /** The client was ended by its owner: whatever is sent now is not sent at all. */
  readonly ended: boolean;
  /** What the client is told to put before every key it sends, but not before what it gets. */
  readonly keyPrefix: string;
  /** A Redis Cluster: the keys of one command must share a slot, and a server cannot tell that a message reached nobody. */
  readonly cluster: boolean;
  /** Names the server that has a slot now, as far as the client knows; constant where there is one. */
  nodeOf(slot: number): string;
  /** Runs a script the server knows; rejects with NOSCRIPT where it does not (restart, fail-over, SCRIPT FLUSH). */
  evalSha(sha1: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Runs a script and makes it known to the server that ran it. */
  eval(text: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** A command whose keys stand before its other arguments; several keys share a slot. */
  command(name: string, keys: readonly string[], ...args: string[]): Promise<unknown>;
  /** Each primary. */
  nodes(): readonly Node[];
  /**
   * Of one server: calls back at each new connection, before anything is answered on it, until the function that is returned
   * is called.
   */
  connected?(again: () => void): () => void;
  /**
   * One more connection like the client's, subscribed to one channel. It is never mended: `lost` is called once when it
   * ends, and a new one is a new call.
   */
  listen(channel: string, heard: (message: string) => void, lost: () => void): Listening;
}

/** A connection of its own to one server: commands keep their order on it, and after its end all fail. */
export type OwnConnection = Pick<Port, 'evalSha' | 'eval' | 'command'>;

/** One server, for what is asked of a server and not of a key. */
export interface Node {
  command(name: string, ...args: string[]): Promise<unknown>;
}

export interface Listening {
  readonly ready: Promise<void>;
  hangUp(): void;
}

/** A client of Redis that you have: `ioredis` or `redis` (node-redis), of one server, of a Cluster or behind sentinels. */
export type RedisClient =
  | IoredisLike
  | IoredisClusterLike
  | NodeRedisLike
  | NodeRedisClusterLike
  | NodeRedisSentinelLike;

/** What each kind of client can do and no other can, the particular ones first. */
const KINDS: readonly { readonly can: readonly string[]; over(client: never): Port }[] = [
  { can: ['evalsha', 'eval', 'call', 'nodes'], over: overIoredisCluster },
  { can: ['evalsha', 'eval', 'call', 'duplicate'], over: overIoredis },
  { can: ['sendCommand', 'nodeClient', 'duplicate', 'destroy'], over: calmed(overNodeRedisCluster) },
  { can: ['sendCommand', 'getMasterNode', 'duplicate'], over: calmed(overNodeRedisSentinel) },
  { can: ['evalSha', 'eval', 'sendCommand', 'duplicate', 'subscribe', 'destroy'], over: calmed(overNodeRedis) },
];

/**
 * node-redis tells of a broken connection by `error`, which ends the process where nobody listens; ioredis only prints it. The
 * calls that fail tell of it, too.
 */
function calmed<C extends object>(over: (client: C) => Port): (client: C) => Port {
  return (client) => {
    const emitter = client as Partial<EventEmitter>;
    if (emitter.listenerCount?.('error') === 0) emitter.on?.('error', () => {});
    return over(client);
  };
}

/** @throws LockError `LOCK_INVALID` when it is none of them. */
export function portOf(client: RedisClient): Port {
  const kind = KINDS.find(({ can }) => has(client, can));
  if (kind) return kind.over(client as never);
  const why = has(client, ['execute', 'sendCommand', 'connect'])
    ? '; createClientPool() is none of them: a pool has no connection on which to listen for the turn of a waiter'
    : '';
  throw new LockError(
    'LOCK_INVALID',
    'redis() needs a connected client: new Redis() or new Cluster() of ioredis (5 or newer), or createClient() or ' +
      `createCluster() of redis (node-redis 5 or newer), or its createSentinel() (6 or newer)${why}`,
    { backend: 'redis' },
  );
}

function has(client: unknown, methods: readonly string[]): boolean {
  if (typeof client !== 'object' || client === null) return false;
  return methods.every((method) => typeof (client as Record<string, unknown>)[method] === 'function');
}
