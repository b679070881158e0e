import type { Listening, Port } from './port.ts';

/** What is used of a node-redis client. */
export interface NodeRedisLike {
  readonly isOpen: boolean;
  readonly options?: { readonly socket?: object };
  evalSha: unknown;
  eval: unknown;
  sendCommand(args: readonly string[]): Promise<unknown>;
  duplicate(override?: object): NodeRedisListener;
}

interface NodeRedisListener {
  connect(): Promise<unknown>;
  subscribe(channel: string, heard: (message: string) => void): Promise<void>;
  destroy(): void;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
}

export function overNodeRedis(client: NodeRedisLike): Port {
  return {
    get ended() {
      return !client.isOpen;
    },
    keyPrefix: '',
    cluster: false,
    nodeOf: () => '',
    evalSha: (sha1, keys, args) => client.sendCommand(['EVALSHA', sha1, `${keys.length}`, ...keys, ...args]),
    eval: (text, keys, args) => client.sendCommand(['EVAL', text, `${keys.length}`, ...keys, ...args]),
    command: (name, ...args) => client.sendCommand([name, ...args]),
    nodes: () => [{ command: (name, ...args) => client.sendCommand([name, ...args]) }],
    listen: (channel, heard, lost) => listenOver(client, channel, heard, lost),
  };
}

export function listenOver(
  client: NodeRedisLike,
  channel: string,
  heard: (message: string) => void,
  lost: () => void,
): Listening {
  const socket = { ...client.options?.socket, reconnectStrategy: false };
  const listener = client.duplicate({ socket });
  listener.on('error', () => {}); // its end follows
  listener.on('terminated', lost);
  return {
    ready: listener.connect().then(() => listener.subscribe(channel, heard)),
    // Throws when it is closed already.
    hangUp: () => {
      try {
        listener.destroy();
      } catch {}
    },
  };
}
