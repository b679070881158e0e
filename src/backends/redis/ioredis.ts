import { LockError } from '../../core/index.ts';
import { isReply } from './errors.ts';
import { CHANGED_KEYS, connections, hangUpOf, type Listening, type OwnConnection, type Port } from './port.ts';

/** The part of ioredis that sends commands. */
export interface IoredisSender {
  evalsha(sha1: string, keys: number, ...keysAndArgs: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...keysAndArgs: string[]): Promise<unknown>;
  call(command: string, ...args: string[]): Promise<unknown>;
}

/** The part that holdfast uses of an ioredis client, also of one that finds its server by sentinels. */
export interface IoredisLike extends IoredisSender {
  readonly status: string;
  readonly options?: {
    readonly keyPrefix?: string | undefined;
    readonly role?: string | undefined;
    readonly host?: string | undefined;
    readonly port?: number | undefined;
    readonly enableAutoPipelining?: boolean | undefined;
  };
  on(event: 'connect' | 'close', listener: () => void): unknown;
  off(event: 'connect' | 'close', listener: () => void): unknown;
  createBuiltinCommand?(name: string): { readonly string: Builtin };
  duplicate(override?: object): IoredisOwn;
}

type Builtin = (this: unknown, ...args: (string | number)[]) => Promise<unknown>;

interface IoredisOwn extends IoredisSender {
  connect(): Promise<void>;
  subscribe(channel: string): Promise<unknown>;
  ssubscribe?(channel: string): Promise<unknown>;
  disconnect(): void;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
}

/** The options of our own connections: no ready check (it needs the right to INFO), no resending, no reconnecting. */
const OURS = {
  lazyConnect: true,
  enableReadyCheck: false,
  autoResubscribe: false,
  enableAutoPipelining: false,
  retryStrategy: null,
  reconnectOnError: null,
  // A listener sends nothing by itself. Without probes a middlebox may drop its connection unnoticed.
  keepAlive: 5_000,
  // With sentinels: a server that stopped answering keeps its connections open, and the listener would never notice that.
  failoverDetector: true,
};

export const commandsOf = (client: IoredisSender, within: InDatabase = (call) => call()): OwnConnection => ({
  evalSha: (sha1, keys, args) => within(() => client.evalsha(sha1, keys.length, ...keys, ...args)),
  eval: (text, keys, args) => within(() => client.eval(text, keys.length, ...keys, ...args)),
  command: (name, keys, ...args) => within(() => client.call(name, ...keys, ...args)),
});

/**
 * Sends each command at once, over a client that collects commands. `CommandBatcher` decides what goes together. The client's own pipelines go
 * one by one, each after the answer to the last: a slow one of the application would hold up a renewal.
 */
const directly = (client: IoredisLike): IoredisSender => {
  const direct = (name: string): Builtin => client.createBuiltinCommand!(name).string.bind(client);
  return { evalsha: direct('evalsha'), eval: direct('eval'), call: (name, ...args) => direct(name)(...args) };
};

export function overIoredis(client: IoredisLike): Port {
  if (client.options?.role === 'slave') {
    const message = "this client asks the sentinels for a replica (role: 'slave'), which takes no locks";
    throw new LockError('LOCK_INVALID', message, { backend: 'redis' });
  }
  const collects = client.options?.enableAutoPipelining && client.createBuiltinCommand !== undefined;
  const inDatabase = ioredisDatabase(client, (database) => client.call('select', `${database}`));
  const commands = commandsOf(collects ? directly(client) : client, inDatabase);
  return {
    get ended() {
      return client.status === 'end';
    },
    keyPrefix: client.options?.keyPrefix ?? '',
    cluster: false,
    nodeOf: () => '',
    ...commands,
    onConnection: (again) => connections(client, again),
    onResend: (again) => connections(client, again, 'close'),
    nodes: () => [{ command: (name, ...args) => commands.command(name, [], ...args) }],
    ownConnection: (_, over, lost) => connectionOver(client, over, lost),
    listen: (channel, heard, lost) => listenOver(client, channel, heard, lost),
    listenForKeys: (_, heard, lost) => listenOver(client, CHANGED_KEYS, heard, lost, 'keys'),
  };
}

/**
 * @param kind `sharded`: the channel belongs to a slot, and `lost` is called, too, when that moves. `keys`: keys that have changed are named
 * there, by RESP2, since ioredis passes on no pushes; it resolves to the id of the connection
 */
export function listenOver(
  client: IoredisLike,
  channel: string,
  heard: (message: string) => void,
  lost: () => void,
  kind?: 'sharded' | 'keys',
): Listening<string> {
  const listener = client.duplicate({ ...OURS, ...(kind === 'keys' && { protocol: 2 }) });
  const sharded = kind === 'sharded';
  listener.on('end', lost);
  if (sharded) {
    listener.on('moved', lost); // the server ended the subscription, because another server has the slot now
    listener.on('error', lost); // before ioredis 6 that end counts as a reply to no command, for which it emits an error
  }
  listener.on(sharded ? 'smessage' : 'message', (_channel, message) => heard(String(message)));
  const hangUp = hangUpOf(listener, () => listener.disconnect());
  const subscribe = async (): Promise<string> => {
    const id = kind === 'keys' ? String(await listener.call('client', 'id')) : '';
    await (sharded ? listener.ssubscribe?.(channel) : listener.subscribe(channel));
    return id;
  };
  return { ready: listener.connect().then(subscribe), hangUp };
}

/** @param keyPrefix the prefix of a Cluster, whose nodes have none of their own */
export async function connectionOver(
  client: IoredisLike,
  over: AbortSignal,
  lost: () => void,
  keyPrefix = client.options?.keyPrefix,
): Promise<OwnConnection> {
  const db = databaseOf(client);
  const own = client.duplicate({ ...OURS, keyPrefix, db });
  own.on('end', lost);
  over.addEventListener(
    'abort',
    hangUpOf(own, () => own.disconnect()),
  );
  await own.connect();
  if (db > 0) await selectDatabase(db, (database) => own.call('select', `${database}`));
  return commandsOf(own);
}

/** Makes a call on a connection, in the database that its client names or not at all. */
type InDatabase = <T>(call: () => Promise<T>) => Promise<T>;

/** The facts that an ioredis client has about the database of its connection: what it asked for, not the outcome. */
interface Selecting {
  readonly options?: { readonly db?: number | undefined } | undefined;
  readonly stream?: unknown;
  readonly status?: string;
  readonly condition?: { readonly select?: number } | null;
  /** The condition of the earlier connection, while the client connects again. */
  readonly prevCondition?: { readonly select?: number } | null;
}

/** Gives the database that `select()` chose last, or that of the options. */
const databaseOf = (client: object): number => {
  const { prevCondition, condition, options } = client as Selecting;
  return (prevCondition ?? condition)?.select ?? options?.db ?? 0;
};

/**
 * If the server refuses its `SELECT`, ioredis (6.0) goes on in database 0, at every new connection. So the first call on each connection
 * waits for a `SELECT` of ours. Database 0 needs none, since a new connection is in it.
 */
function ioredisDatabase(client: object, select: (database: number) => Promise<unknown>): InDatabase {
  let confirmed: { readonly stream: unknown; readonly database: number } | undefined;
  let asking: Promise<void> | undefined;
  const isConfirmed = (database: number): boolean => {
    const { stream, status } = client as Selecting;
    // Until the client is connected again it has the old stream, and commands that are sent then wait for the new one.
    return (
      status === 'ready' && confirmed !== undefined && confirmed.stream === stream && confirmed.database === database
    );
  };
  const ask = async (): Promise<void> => {
    const database = databaseOf(client);
    await selectDatabase(database, select);
    confirmed = { stream: (client as Selecting).stream, database };
  };
  const makeSure = (): Promise<void> => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
  const within = async <T>(database: number, call: () => Promise<T>): Promise<T> => {
    if (!isConfirmed(database)) await makeSure();
    const answer = await call();
    if (isConfirmed(database)) return answer;
    // The client may have sent the command again over another connection, whose database was not checked first.
    await makeSure().catch((cause: Error) => {
      throw new Error(`it is not known in which database it was done: ${cause.message}`, { cause });
    });
    return answer;
  };
  return (call) => {
    const database = databaseOf(client);
    return database === 0 ? call() : within(database, call);
  };
}

/** @throws LockError `LOCK_UNAVAILABLE` if the server refuses the database */
async function selectDatabase(database: number, select: (database: number) => Promise<unknown>): Promise<void> {
  try {
    await select(database);
  } catch (error) {
    if (!['ERR', 'NOPERM', 'NOAUTH'].some((code) => isReply(error, code))) throw error;
    throw new LockError(
      'LOCK_UNAVAILABLE',
      `redis refused database ${database}: ${(error as Error).message}. What to do: name a database that the server has, and grant the user +select`,
      { backend: 'redis', cause: error },
    );
  }
}
