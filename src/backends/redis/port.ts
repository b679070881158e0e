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
   * Whether it is a Redis Cluster: there the keys of one command must share a slot, and a server cannot tell that a message reached nobody.
   */
  readonly cluster: boolean;
  /** Names the server that has a slot now, as far as the client knows; constant where there is one. */
  nodeOf(slot: number): string;
  /** Runs a script the server knows; rejects with NOSCRIPT where it does not (restart, fail-over, SCRIPT FLUSH). */
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
  /** Calls back when the client may send again what was not answered; undefined where it never does. The function that it returns ends that. */
  onResend?(again: () => void): () => void;
  /**
   * Opens one more connection like the client's, which subscribes to one channel. It never reconnects: `lost` is called once when it ends,
   * and a new one is a new call.
   */
  listen(channel: string, onMessage: (message: string) => void, lost: () => void): Listening;
  /**
   * Does the same for a sharded channel, over a connection to the server that has its slot: only that server and its replicas pass on
   * what is told there. `lost` is called, too, when the slot moves. Undefined where the library cannot do it.
   */
  listenAt?(slot: number, channel: string, heard: (message: string) => void, lost: () => void): Listening;
  /**
   * Opens one more connection like the client's, to the server that has a slot, and resolves to its id. Another connection names that in
   * `CLIENT TRACKING`: then each key that was read there, and has changed, is heard here; '' stands for all keys. Undefined where the library
   * cannot do it.
   */
  listenForKeys?(slot: number, heard: (key: string) => void, lost: () => void): Listening<string>;
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

/** The channel on which a server names the keys that have changed. A connection of RESP3 would get pushes there. */
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

/** Makes the error for a client that cannot wait for replicas: its connections reconnect by themselves, or it has none to itself. */
export const noReplicas = (client: string): LockError =>
  new LockError(
    'LOCK_INVALID',
    `redis() waits for replicas on a connection of its own that never reconnects, which ${client} does not give; leave out replicas, or use ioredis or redis (node-redis)`,
    { backend: 'redis' },
  );

/** Listens over a client that is still being opened. @param unused ends a client that opened only after the hang-up */
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
  own.on('error', () => {}); // the end of the connection follows, and commands on it fail
  let over = false;
  // A client (node-redis 6.3) that is ended while it connects finishes connecting. One of sentinels (ioredis 6.0) keeps its connections to them.
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

/** The listener of each client, by event. If each backend added one of its own, Node would warn of a leak when many backends share a client. */
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
