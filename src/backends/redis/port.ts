import { LockError } from '../../core/errors.ts';
import { type IoredisLike, overIoredis } from './ioredis.ts';
import { type NodeRedisLike, overNodeRedis } from './node-redis.ts';

/** A client library as this backend needs it. */
export interface Port {
  /** The client was ended by its owner: whatever is sent now is not sent at all. */
  readonly ended: boolean;
  /** What the client itself puts before every key it sends, but not before what it gets. */
  readonly keyPrefix: string;
  /** Runs a script the server knows; rejects with NOSCRIPT where it does not (restart, fail-over, SCRIPT FLUSH). */
  evalSha(sha1: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Runs a script and makes it known to the server that ran it. */
  eval(text: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  command(name: string, ...args: string[]): Promise<unknown>;
  /**
   * One more connection like the client's, subscribed to one channel. It is never mended: `lost` is called once when it
   * ends, and a new one is a new call.
   */
  listen(channel: string, heard: (message: string) => void, lost: () => void): Listening;
}

export interface Listening {
  readonly ready: Promise<void>;
  hangUp(): void;
}

export type RedisClient = IoredisLike | NodeRedisLike;

/** @throws LockError `LOCK_INVALID` when it is neither client. */
export function portOf(client: RedisClient): Port {
  if (has(client, 'evalsha', 'eval', 'call', 'duplicate')) return overIoredis(client as IoredisLike);
  if (has(client, 'evalSha', 'eval', 'sendCommand', 'duplicate')) return overNodeRedis(client as NodeRedisLike);
  throw new LockError(
    'LOCK_INVALID',
    'redis() needs a connected client: new Redis() of ioredis, or createClient() of redis (node-redis)',
    { backend: 'redis' },
  );
}

function has(client: unknown, ...methods: string[]): boolean {
  if (typeof client !== 'object' || client === null) return false;
  return methods.every((method) => typeof (client as Record<string, unknown>)[method] === 'function');
}
