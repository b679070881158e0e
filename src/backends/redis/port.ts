import { LockError } from '../../core/index.ts';

/** The part of a client library that this backend needs. */
export interface Port {
  /**
   * Opens one more connection like the client's, to the server that has a slot. It never reconnects, and ends with the signal; `onLoss` is
   * called when it ends without that.
   */
  ownConnection(slot: number, over: AbortSignal, onLoss: () => void): Promise<OwnConnection>;
  /** Whether the owner has ended the client: then it sends nothing any more. */
  readonly ended: boolean;
  /** The prefix that the client puts before every key that it sends. It does not add or remove it in answers. */
  readonly keyPrefix: string;
  /**
   * Whether the client is of a Redis Cluster. In a Cluster the keys of one command must share a slot, and a server does not know whether a
   * message reached a listener at another node.
   */
  readonly cluster: boolean;
  /** Names the server that has a slot now, as far as the client knows; constant where there is one. */
  nodeOf(slot: number): string;
  /** Runs a script that the server knows. Rejects with NOSCRIPT if the server does not (restart, fail-over, SCRIPT FLUSH). */
  evalSha(sha1: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Runs a script and makes it known to the server that ran it. */
  eval(text: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Sends a command whose keys come before its other arguments. Several keys share a slot. */
  command(name: string, keys: readonly string[], ...args: string[]): Promise<unknown>;
  nodes(): readonly RedisNode[];
  /**
   * Calls back at each new connection to the one server, before anything is answered on it. The function that it returns
   * ends that.
   */
  onConnection?(again: () => void): () => void;
  /** Calls back when the client may send an unanswered request again. Undefined if it never does. The function that it returns ends that. */
  onResend?(again: () => void): () => void;
  /** Opens one more connection like the client's, which subscribes to one channel. It never reconnects; `lost` is called once when it ends. */
  listen(channel: string, onMessage: (message: string) => void, lost: () => void): Listening;
  /**
   * Does the same for a sharded channel, over a connection to the server that has its slot. Only that server and its replicas pass on the
   * messages. `lost` is called, too, when the slot moves. Undefined if the library cannot do that.
   */
  listenAt?(slot: number, channel: string, onMessage: (message: string) => void, lost: () => void): Listening;
  /**
   * Opens one more connection like the client's, to the server that has a slot, and resolves to the id of the connection. Another connection
   * names this id in `CLIENT TRACKING`. Then `onKey` is called for each key that was read over that other connection and has changed since;
   * '' stands for all keys. Undefined if the library cannot do that.
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

/** Gives the slot of a key in a Redis Cluster. If there is text in the first pair of braces, it alone decides the slot. */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  const tag = open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
  return crc16(new TextEncoder().encode(tag)) % SLOTS;
}

/** The channel on which a server names changed keys to a connection of RESP2. One of RESP3 gets them as pushes. */
export const CHANGED_KEYS = '__redis__:invalidate';

/** A connection of our own to one server. Commands keep their order on it, and after its end all fail. */
export type OwnConnection = Pick<Port, 'evalSha' | 'eval' | 'command'>;

/** One server. It takes commands that are about the server and not about a key. */
export interface RedisNode {
  command(name: string, ...args: string[]): Promise<unknown>;
}

export interface Listening<T = unknown> {
  readonly ready: Promise<T>;
  hangUp(): void;
}

/** Makes the error for a client that cannot wait for replicas, since its connections reconnect or are shared. */
export const noReplicas = (client: string): LockError =>
  new LockError(
    'LOCK_INVALID',
    `redis() waits for replicas on a connection of its own that never reconnects, which ${client} does not give; leave out replicas, or use ioredis or redis (node-redis)`,
    { backend: 'redis' },
  );

/** Listens over a client that is still being opened. @param unused ends a client that is open only after `hangUp` was called */
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
  own.on('error', () => {}); // the connection ends next, and commands on it fail
  let over = false;
  // node-redis 6.3 goes on connecting if it is ended meanwhile. ioredis 6.0 behind sentinels keeps its connections to the sentinels.
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

/** The listener of each client, by event. With a listener for each backend, Node would warn of a leak when many backends share a client. */
const listeners: Record<string, WeakMap<object, ClientListener>> = {};

/** Calls back at each event of a client: by default at each new connection. */
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
