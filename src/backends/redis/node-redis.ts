import { connections } from './incarnation.ts';
import type { Line, Listening, Port } from './port.ts';

/** What is used of a node-redis client. */
export interface NodeRedisLike {
  readonly isOpen: boolean;
  readonly options?: { readonly socket?: object | undefined } | undefined;
  evalSha: unknown;
  eval: unknown;
  sendCommand(args: readonly string[]): Promise<unknown>;
  on(event: 'connect', listener: () => void): unknown;
  off(event: 'connect', listener: () => void): unknown;
  duplicate(override?: object): NodeRedisOwn;
}

interface NodeRedisOwn {
  readonly isOpen: boolean;
  sendCommand(args: readonly string[]): Promise<unknown>;
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
    connected: (again) => connections(client, again),
    nodes: () => [{ command: (name, ...args) => client.sendCommand([name, ...args]) }],
    line: () => lineOver(client),
    listen: (channel, heard, lost) => listenOver(client, channel, heard, lost),
  };
}

export function listenOver(
  client: NodeRedisLike,
  channel: string,
  heard: (message: string) => void,
  lost: () => void,
): Listening {
  const listener = duplicate(client);
  // It is never mended, so what closes it ends it. 'terminated' says so too, but only from node-redis 6.3 on.
  listener.on('error', () => listener.isOpen || lost());
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

const duplicate = (client: NodeRedisLike): NodeRedisOwn =>
  client.duplicate({ socket: { ...client.options?.socket, reconnectStrategy: false } });

export async function lineOver(client: NodeRedisLike): Promise<Line> {
  const own = duplicate(client);
  own.on('error', () => {}); // what is sent on it fails
  await own.connect();
  return {
    evalSha: (sha1, keys, args) => own.sendCommand(['EVALSHA', sha1, `${keys.length}`, ...keys, ...args]),
    eval: (text, keys, args) => own.sendCommand(['EVAL', text, `${keys.length}`, ...keys, ...args]),
    command: (name, ...args) => own.sendCommand([name, ...args]),
    hangUp: () => (own.isOpen ? own.destroy() : undefined),
  };
}
