import { onceFor, systemClock } from '../../core/index.ts';
import { isReply } from './errors.ts';
import { CHANGED_KEYS, connections, hangUpOf, type ListenOver, type OwnConnection, type Port } from './port.ts';

/** The part of a node-redis client that holdfast uses. */
export interface NodeRedisLike {
  readonly isOpen: boolean;
  readonly isReady?: boolean;
  readonly options?: { readonly socket?: object | undefined; readonly database?: number | undefined } | undefined;
  readonly _keyPrefix?: KeyPrefix | undefined;
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
  subscribe(channel: string, onMessage: (message: string) => void): Promise<void>;
  sSubscribe?(channel: string, onMessage: (message: string) => void): Promise<void>;
  destroy(): void;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
}

export type KeyPrefix = string | Buffer;

/**
 * Sends scripts and commands as raw commands. Raw commands of node-redis (6.3) bypass the client's key prefix, so this function puts the prefix
 * before the keys.
 * @param send gets the first key, by which a Cluster finds the node
 */
export function raw(
  keyPrefix: KeyPrefix | undefined,
  send: (firstKey: string | undefined, args: string[]) => Promise<unknown>,
): Pick<Port, 'keyPrefix' | 'evalSha' | 'eval' | 'command'> {
  const prefix = String(keyPrefix ?? '');
  const withPrefix = (keys: readonly string[]): readonly string[] =>
    prefix === '' ? keys : keys.map((key) => `${prefix}${key}`);
  const run = (name: string, script: string, names: readonly string[], args: readonly string[]): Promise<unknown> => {
    const keys = withPrefix(names);
    return send(keys[0], [name, script, `${keys.length}`, ...keys, ...args]);
  };
  return {
    keyPrefix: prefix,
    evalSha: (sha1, keys, args) => run('EVALSHA', sha1, keys, args),
    eval: (text, keys, args) => run('EVAL', text, keys, args),
    command: (name, names, ...args) => {
      const keys = withPrefix(names);
      return send(keys[0], [name, ...keys, ...args]);
    },
  };
}

/** The database in the options. node-redis (6.3) does not show which one `select()` chose. */
const databaseOf = ({ options }: NodeRedisLike): number => options?.database ?? 0;

/**
 * If `SELECT` is refused, node-redis (6.3) ends the connection, but it has already sent the queued commands, which run in the wrong database. So no
 * command is sent before the connection is ready, and an answer does not count if the connection is no longer ready.
 */
async function sendWhenReady(client: NodeRedisLike, args: readonly string[]): Promise<unknown> {
  const check = (): void => {
    if (client.isReady === false)
      throw new Error(`the client is not connected, or not yet in its database ${databaseOf(client)}`);
  };
  check();
  const answer = await client.sendCommand(args);
  check();
  return answer;
}

/** Makes the part of a port to one server that only sends commands. */
export const rawServer = (
  keyPrefix: KeyPrefix | undefined,
  send: (args: string[]) => Promise<unknown>,
): ReturnType<typeof raw> & Pick<Port, 'cluster' | 'nodeOf' | 'nodes'> => ({
  ...raw(keyPrefix, (_, args) => send(args)),
  cluster: false,
  nodeOf: () => '',
  nodes: () => [{ command: (...args) => send(args) }],
});

/** The shortest time between two `QUIT`s, ms: at the first one there may be no new primary yet. */
const LEAVE_PAUSE_MS = 1_000;

/**
 * A demoted primary keeps its connections, though its name or address may lead to the new primary. node-redis has no `reconnectOnError` as ioredis
 * has, but connects again when the server ends the connection. So READONLY makes us send `QUIT`, which every user may send: the server
 * answers all earlier commands, then ends the connection.
 * @returns a function to call with each error that comes as an answer
 */
export function leavingDemoted(client: Pick<NodeRedisLike, 'options' | 'sendCommand'>): (error: unknown) => void {
  const { reconnectStrategy } = (client.options?.socket ?? {}) as { readonly reconnectStrategy?: unknown };
  let next = 0;
  return (error) => {
    if (reconnectStrategy === false || !isReply(error, 'READONLY')) return;
    const now = systemClock.now();
    if (now < next) return;
    next = now + LEAVE_PAUSE_MS;
    client.sendCommand(['QUIT']).catch(() => {}); // if the connection is gone, the next request fails
  };
}

export function overNodeRedis(client: NodeRedisLike): Port {
  const leave = leavingDemoted(client);
  const send = (args: readonly string[]): Promise<unknown> =>
    (databaseOf(client) === 0 ? client.sendCommand(args) : sendWhenReady(client, args)).catch((error) => {
      leave(error);
      throw error;
    });
  return {
    ...rawServer(client._keyPrefix, send),
    get ended() {
      return !client.isOpen;
    },
    onConnection: (again) => connections(client, again),
    ownConnection: (_, over, lost) => connectionOver(client, over, lost, client._keyPrefix),
    listen: (channel, onMessage, lost) => listenOver(client, channel, onMessage, lost),
    listenForKeys: (_, onMessage, lost) => listenOver(client, CHANGED_KEYS, onMessage, lost, 'keys'),
  };
}

/** Changed keys come as a list, or as null for all keys. */
export const listenOver: ListenOver<NodeRedisLike> = (client, channel, onMessage, lost, kind) => {
  const resp2 = kind === 'keys' ? { RESP: 2, emitInvalidate: false, maintNotifications: 'disabled' } : {};
  // A listener may be silent for long, and `socketTimeout` would end its connection.
  const listener = duplicate(client, lost, { socketTimeout: undefined }, resp2);
  // The server ended the subscription, because another server has the slot now.
  if (kind === 'sharded') listener.on('sharded-channel-moved', lost);
  const hangUp = hangUpOf(listener, endOf(listener));
  const deliver = (message: string | null): void => onMessage(String(message ?? ''));
  const subscribe = async (): Promise<string> => {
    const id = kind === 'keys' ? String(await listener.sendCommand(['CLIENT', 'ID'])) : '';
    await (kind === 'sharded' ? listener.sSubscribe?.(channel, deliver) : listener.subscribe(channel, deliver));
    return id;
  };
  return { ready: listener.connect().then(subscribe), hangUp };
};

/** Ends a connection of ours in any of its states. */
const endOf = (own: NodeRedisOwn) => (): void => {
  try {
    own.destroy();
  } catch {} // it is closed already
};

function duplicate(client: NodeRedisLike, lost: () => void, socket: object = {}, protocol: object = {}): NodeRedisOwn {
  const own = client.duplicate({
    ...protocol,
    // The end of this connection would empty a cache that it shared with the client.
    clientSideCache: undefined,
    socket: { ...client.options?.socket, ...socket, reconnectStrategy: false },
  });
  // An error that closes the connection ends it for good, since it never reconnects. The event 'terminated' is in node-redis 6.3 and newer only.
  own.on('error', () => own.isOpen || lost());
  return own;
}

/** @param keyPrefix the prefix of the client, or of the Cluster's client, since the client of a node has none */
export async function connectionOver(
  client: NodeRedisLike,
  over: AbortSignal,
  lost: () => void,
  keyPrefix: KeyPrefix | undefined,
): Promise<OwnConnection> {
  over.throwIfAborted();
  const own = duplicate(client, lost);
  over.addEventListener('abort', hangUpOf(own, endOf(own)));
  await own.connect();
  const select = onceFor(() => selectAs(client, own));
  let ready = Promise.resolve();
  return raw(keyPrefix, (firstKey, args) => {
    // Only commands with keys are about a database. A later command without keys (WAIT) waits, too, so that the order is kept.
    if (firstKey !== undefined) ready = select();
    return ready.then(() => own.sendCommand(args));
  });
}

/** Puts a connection of ours in the database of the client. `duplicate()` copies only the options, so the server is asked what `select()` chose. */
async function selectAs(client: NodeRedisLike, own: NodeRedisOwn): Promise<void> {
  const [, database] = / db=(\d+)/.exec(String(await sendWhenReady(client, ['CLIENT', 'INFO']))) ?? [];
  if (database === undefined) throw new Error('CLIENT INFO names no database');
  if (Number(database) !== databaseOf(client)) await own.sendCommand(['SELECT', database]);
}
