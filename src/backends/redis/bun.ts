import { raw } from './node-redis.ts';
import { noReplicas, type Port } from './port.ts';

/** The part that holdfast uses of `RedisClient` of Bun, which also is `Bun.redis`. */
export interface BunRedisLike {
  onclose: ((error: Error) => void) | null;
  send(command: string, args: string[]): Promise<unknown>;
  getBuffer(key: string): Promise<unknown>;
  duplicate(): Promise<BunRedisLike>;
  subscribe(channel: string, heard: (message: string) => void): Promise<unknown>;
  close(): void;
}

/** Bun reports only the end of a connection. So a server that started again is not noticed. */
export function overBunRedis(client: BunRedisLike): Port {
  const send = ([name, ...args]: readonly string[]): Promise<unknown> => client.send(name!, args);
  return {
    ...raw(undefined, (_, args) => send(args)),
    ended: false,
    cluster: false,
    nodeOf: () => '',
    nodes: () => [{ command: (...args) => send(args) }],
    ownConnection: () => Promise.reject(noReplicas('Bun.redis')),
    listen(channel, heard, lost) {
      let over = false;
      let listener: BunRedisLike | undefined;
      const hangUp = (): void => {
        over = true;
        listener?.close();
      };
      const listening = async (): Promise<void> => {
        const own = await client.duplicate();
        listener = own;
        if (over) return own.close();
        own.onclose = () => {
          if (!over) lost();
          // Otherwise it would connect again by itself.
          hangUp();
        };
        await own.subscribe(channel, (message) => heard(message));
      };
      return { ready: listening(), hangUp };
    },
  };
}
