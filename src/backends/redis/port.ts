import { LockError } from '../../core/index.ts';

/** The part of a client library that this backend needs. */
export interface Port {
  /** Opens a connection like the client's to the server of a slot. It never reconnects, and ends when `over` aborts; any other end calls `onLoss`. */
  ownConnection(slot: number, over: AbortSignal, onLoss: () => void): Promise<OwnConnection>;
  /** Whether the owner has ended the client, which then sends nothing any more. */
  readonly ended: boolean;
  /** The prefix that the client puts before every key that it sends. Keys in answers keep the prefix. */
  readonly keyPrefix: string;
  /** Whether the client is of a Cluster: keys of a command share a slot, and no server knows whether a message reached another node's listener. */
  readonly cluster: boolean;
  /** Names the server that has a slot now, as far as the client knows; always the same if there is one server. */
  nodeOf(slot: number): string;
  /** Runs a script by its hash. Rejects with NOSCRIPT if the server does not know the script (restart, fail-over, SCRIPT FLUSH). */
  evalSha(sha1: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Runs a script and makes it known to the server that ran it. */
  eval(text: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Sends a command whose keys come before its other arguments. Several keys must share a slot. */
  command(name: string, keys: readonly string[], ...args: string[]): Promise<unknown>;
  nodes(): readonly RedisNode[];
  /** Calls back at each new connection to the one server, before any answer comes over it. The returned function ends the calls. */
  onConnection?(again: () => void): () => void;
  /** Calls back when the client may send unanswered requests again. The returned function ends the calls. Undefined if no request is sent again. */
  onResend?(again: () => void): () => void;
  /** Opens one more connection like the client's, which subscribes to one channel. The connection never reconnects; its end calls `lost` once. */
  listen(channel: string, onMessage: (message: string) => void, lost: () => void): Listening;
  /**
   * Listens to a sharded channel, over a connection to the server that has the channel's slot. The messages go only to that server and its replicas.
   * A move of the slot calls `lost`, too. Undefined if the library cannot do that.
   */
  listenAt?(slot: number, channel: string, onMessage: (message: string) => void, lost: () => void): Listening;
  /**
   * Opens one more connection like the client's, to the server that has a slot, and resolves to the id of the connection. Another connection names
   * this id in `CLIENT TRACKING`. Then `onKey` is called for each key that was read over that other connection and has changed since; '' means all
   * keys. Undefined if the library cannot do that.
   */
  listenForKeys?(slot: number, onKey: (key: string) => void, lost: () => void): Listening<string>;
}

export const SLOTS = 16_384;

/** CRC-16/XMODEM (polynomial 0x1021), as the Redis Cluster specification wants it. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}

/** Gives the slot of a key in a Redis Cluster. If there is text in the first pair of braces, that text alone decides. */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  const tag = open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
  return crc16(new TextEncoder().encode(tag)) % SLOTS;
}

/** The channel on which a server names changed keys to a connection of RESP2. A connection of RESP3 gets them as pushes. */
export const CHANGED_KEYS = '__redis__:invalidate';

/** A connection of our own to one server. It keeps the order of commands. After its end all commands fail. */
export type OwnConnection = Pick<Port, 'evalSha' | 'eval' | 'command'>;

/** One server. It takes commands that are about the server and not about a key. */
export interface RedisNode {
  command(name: string, ...args: string[]): Promise<unknown>;
}

export interface Listening<T = unknown> {
  readonly ready: Promise<T>;
  hangUp(): void;
}

/**
 * Listens over one more connection like the client's.
 * @param kind `sharded`: the channel belongs to a slot, and a move of the slot calls `lost`, too. `keys`: messages name changed keys; `ready` resolves
 * to the id of the connection
 */
export type ListenOver<Client> = (
  client: Client,
  channel: string,
  onMessage: (message: string) => void,
  lost: () => void,
  kind?: 'sharded' | 'keys',
) => Listening<string>;

/**
 * Makes the `ownConnection` of a client that cannot wait for replicas, since its connections reconnect or are shared.
 * @throws LockError `LOCK_UNSUPPORTED`, as a rejection
 */
export const noReplicas = (client: string) => async (): Promise<never> => {
  const message = `replicas need a connection of their own, which ${client} does not give; leave out replicas, or use ioredis or createClient() of node-redis`;
  throw new LockError('LOCK_UNSUPPORTED', message, { backend: 'redis' });
};

/** Listens over a client that is still being opened. @param unused ends the client if `hangUp` was called before it was open */
export function listenLater<C, T>(
  opening: Promise<C>,
  listen: (client: C) => Listening<T>,
  unused: (client: C) => void = () => {},
): Listening<T> {
  let listening: Listening<T> | undefined;
  let over = false;
  return {
    ready: opening.then((client) => {
      if (over) {
        unused(client);
        throw new Error('hung up');
      }
      listening = listen(client);
      return listening.ready;
    }),
    hangUp() {
      over = true;
      listening?.hangUp();
    },
  };
}

/** Gives a function that ends a connection of ours in any of its states. */
export function hangUpOf(own: { on(event: string, listener: () => void): unknown }, end: () => void): () => void {
  own.on('error', () => {}); // after an error the connection ends, and its commands fail
  let over = false;
  // If ended while connecting, node-redis 6.3 still connects, and ioredis 6.0 keeps its connections to the sentinels. So `end` is called again.
  own.on('connect', () => over && end());
  return () => {
    over = true;
    end();
  };
}

/** The part of a client that reports events. It is the same in all libraries. */
interface Emitter<E extends string> {
  on(event: E, listener: () => void): unknown;
  off(event: E, listener: () => void): unknown;
}

interface ClientListener {
  readonly callbacks: Set<() => void>;
  readonly call: () => void;
}

/** One listener for each client and event. If each backend added its own, Node would warn of a leak when many backends share a client. */
const listeners: Record<string, WeakMap<object, ClientListener>> = {};

/** Calls back at each event of a client, by default at each new connection. The returned function ends the calls. */
export function connections<E extends string = 'connect'>(
  client: Emitter<E>,
  again: () => void,
  event: E = 'connect' as E,
): () => void {
  listeners[event] ??= new WeakMap();
  const { callbacks, call } = listeners[event].get(client) ?? listen(client, event);
  callbacks.add(again);
  return () => {
    if (!callbacks.delete(again) || callbacks.size > 0) return;
    client.off(event, call);
    listeners[event]!.delete(client);
  };
}

function listen<E extends string>(client: Emitter<E>, event: E): ClientListener {
  const callbacks = new Set<() => void>();
  const call = (): void => {
    for (const again of [...callbacks]) again();
  };
  client.on(event, call);
  listeners[event]!.set(client, { callbacks, call });
  return { callbacks, call };
}
