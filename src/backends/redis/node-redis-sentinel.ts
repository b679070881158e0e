import { LockError } from '../../core/index.ts';
import { type KeyPrefix, rawServer } from './node-redis.ts';
import type { Listening, Port } from './port.ts';

/** The part of a sentinel client of node-redis that holdfast uses. */
export interface NodeRedisSentinelLike {
  readonly isOpen: boolean;
  readonly _keyPrefix?: KeyPrefix | undefined;
  getMasterNode(): unknown;
  sendCommand(isReadonly: boolean, args: string[]): Promise<unknown>;
  duplicate(override: object): NodeRedisSentinelListener;
}

interface NodeRedisSentinelListener {
  connect(): Promise<unknown>;
  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown>;
  destroy(): Promise<void>;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
}

export function overNodeRedisSentinel(client: NodeRedisSentinelLike): Port {
  return {
    ...rawServer(client._keyPrefix, (args) => client.sendCommand(false, args)),
    get ended() {
      return !client.isOpen;
    },
    ownConnection: async () => {
      throw new LockError(
        'LOCK_UNSUPPORTED',
        'replicas cannot be waited for over createSentinel() of node-redis, which gives out no connection that stays the same; use ioredis',
        { backend: 'redis' },
      );
    },
    listen: (channel, onMessage, lost) =>
      listen(client.duplicate({ clientSideCache: undefined }), channel, onMessage, lost),
  };
}

/** The client reconnects by itself, and misses the messages sent meanwhile. So at every sign of a reconnection, the listening ends. */
function listen(
  listener: NodeRedisSentinelListener,
  channel: string,
  onMessage: (message: string) => void,
  lost: () => void,
): Listening {
  let over = false;
  const hangUp = (): void => {
    if (over) return;
    over = true;
    listener.destroy().catch(() => {});
  };
  const end = (): void => {
    hangUp();
    lost();
  };
  listener.on('error', end);
  listener.on('end', lost);
  return {
    ready: listener.connect().then(async () => {
      // To subscribe would open a connection even after the client has ended, and nothing would close that connection.
      if (over) throw new Error('hung up');
      await listener.subscribe(channel, onMessage);
      if (over) await listener.destroy();
      listener.on('topology-change', (change) => {
        if ((change as { type?: unknown }).type === 'MASTER_CHANGE') end();
      });
    }),
    hangUp,
  };
}
