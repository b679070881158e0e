import { LockError } from '../../core/errors.ts';
import { type IoredisLike, overIoredis } from './ioredis.ts';
import { type NodeRedisLike, overNodeRedis } from './node-redis.ts';
import type { Script } from './scripts.generated.ts';

/** A client library as this backend needs it. */
export interface Port {
  /** The client was ended by its owner: whatever is sent now is not sent at all. */
  readonly ended: boolean;
  /** Runs the script by its hash; gives its text where the server does not know it (restart, fail-over, SCRIPT FLUSH). */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>;
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

/** Tells a script's text to a server that does not know its hash. */
export function byHash(reply: Promise<unknown>, byText: () => Promise<unknown>): Promise<unknown> {
  return reply.catch((error) => {
    if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return byText();
    throw error;
  });
}
