import { type KeyPrefix, rawServer } from './node-redis.ts';
import { type Listening, noReplicas, type Port } from './port.ts';

/** The part of a sentinel client of node-redis that holdfast uses. */
export interface NodeRedisSentinelLike {
  readonly isOpen: boolean;
  readonly _keyPrefix?: KeyPrefix | undefined;
  readonly commandOptions?: object | undefined;
  getMasterNode(): unknown;
  /** Calls `ask` again, for the next client of the primary, if the connection was lost or the primary was demoted. `sendCommand` does its work by it. */
  _execute(isReadonly: boolean, ask: (primary: Primary) => Promise<unknown>): Promise<unknown>;
  duplicate(override: object): NodeRedisSentinelListener;
}

interface Primary {
  sendCommand(args: string[], options?: object): Promise<unknown>;
}

interface NodeRedisSentinelListener {
  connect(): Promise<unknown>;
  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown>;
  destroy(): Promise<void>;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
}

export function overNodeRedisSentinel(client: NodeRedisSentinelLike): Port {
  const resendListeners = new Set<() => void>();
  // `sendCommand` hides that it sends a command again, and no event of the client (6.3) shows it.
  const send = (args: string[]): Promise<unknown> => {
    let isSent = false;
    return client._execute(false, (primary) => {
      if (isSent) for (const again of resendListeners) again();
      isSent = true;
      return primary.sendCommand(args, client.commandOptions);
    });
  };
  return {
    ...rawServer(client._keyPrefix, send),
    get ended() {
      return !client.isOpen;
    },
    onResend(again) {
      resendListeners.add(again);
      return () => resendListeners.delete(again);
    },
    ownConnection: noReplicas('createSentinel() of node-redis'),
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
