import { LockError } from '../../core/index.ts';
import { isReply } from './errors.ts';
import { CHANGED_KEYS, connections, hangUpOf, type ListenOver, type OwnConnection, type Port } from './port.ts';

/** The part of ioredis that sends commands. */
export interface IoredisSender {
  evalsha(sha1: string, keys: number, ...keysAndArgs: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...keysAndArgs: string[]): Promise<unknown>;
  call(command: string, ...args: string[]): Promise<unknown>;
}

/** The part of an ioredis client that holdfast uses, with or without sentinels. */
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

/** Options of our own connections: no ready check, which needs the right to INFO; no command is sent again; no reconnection. */
const OURS = {
  lazyConnect: true,
  enableReadyCheck: false,
  autoResubscribe: false,
  enableAutoPipelining: false,
  retryStrategy: null,
  reconnectOnError: null,
  // A listener sends nothing by itself. Without TCP probes (after 5,000 ms) a middlebox may drop its connection unnoticed.
  keepAlive: 5_000,
  // A server that hangs keeps its connections open. Without this option the listener would not notice that the sentinels chose a new primary.
  failoverDetector: true,
};

/** @param chosen the database of the client; undefined if every connection is surely in the right database */
export function commandsOf(client: IoredisSender, chosen?: ChosenDatabase): OwnConnection {
  const runner =
    (name: 'evalsha' | 'eval'): OwnConnection['evalSha'] =>
    (script, keys, args) => {
      if (!chosen?.number) return client[name](script, keys.length, ...keys, ...args);
      return chosen.within(() => client[name](script, keys.length, ...keys, ...args));
    };
  return {
    evalSha: runner('evalsha'),
    eval: runner('eval'),
    command(name, keys, ...args) {
      const send = (): Promise<unknown> => client.call(name, ...keys, ...args);
      return chosen?.number ? chosen.within(send) : send();
    },
  };
}

/**
 * Sends each command at once over a client that collects commands in pipelines (`enableAutoPipelining`). Such a client sends a pipeline only after
 * the answer to the last pipeline, so a slow command of the application would delay a renewal. Instead, `CommandBatcher` collects our requests.
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
  const commands = commandsOf(collects ? directly(client) : client, new ChosenDatabase(client));
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
    listen: (channel, onMessage, lost) => listenOver(client, channel, onMessage, lost),
    listenForKeys: (_, onMessage, lost) => listenOver(client, CHANGED_KEYS, onMessage, lost, 'keys'),
  };
}

/** Changed keys come over RESP2, since ioredis does not deliver the pushes of RESP3. */
export const listenOver: ListenOver<IoredisLike> = (client, channel, onMessage, lost, kind) => {
  const listener = client.duplicate({ ...OURS, ...(kind === 'keys' && { protocol: 2 }) });
  const sharded = kind === 'sharded';
  listener.on('end', lost);
  if (sharded) {
    listener.on('moved', lost); // the server ended the subscription, because another server has the slot now
    listener.on('error', lost); // ioredis before 6 emits an error instead, because no command waits for that reply
  }
  listener.on(sharded ? 'smessage' : 'message', (_channel, message) => onMessage(String(message)));
  const hangUp = hangUpOf(listener, () => listener.disconnect());
  const subscribe = async (): Promise<string> => {
    const id = kind === 'keys' ? String(await listener.call('client', 'id')) : '';
    await (sharded ? listener.ssubscribe?.(channel) : listener.subscribe(channel));
    return id;
  };
  return { ready: listener.connect().then(subscribe), hangUp };
};

/** @param keyPrefix the prefix of the Cluster's client, since the client of a node has none */
export async function connectionOver(
  client: IoredisLike,
  over: AbortSignal,
  lost: () => void,
  keyPrefix = client.options?.keyPrefix,
): Promise<OwnConnection> {
  over.throwIfAborted();
  const db = new ChosenDatabase(client).number;
  const own = client.duplicate({ ...OURS, keyPrefix, db });
  own.on('end', lost);
  const hangUp = hangUpOf(own, () => own.disconnect());
  over.addEventListener('abort', hangUp);
  await own.connect();
  if (db > 0) await selectDatabase(own, db);
  return commandsOf(own);
}

/** What an ioredis client knows of its database: the number that it asked for, not whether the server agreed. */
interface Selecting {
  readonly options?: { readonly db?: number | undefined } | undefined;
  readonly stream?: unknown;
  readonly status?: string;
  readonly condition?: { readonly select?: number } | null;
  /** The condition of the earlier connection, while the client connects again. */
  readonly prevCondition?: { readonly select?: number } | null;
}

/**
 * Makes sure that calls run in the database that the user of a client chose. If the server refuses the `SELECT` of a new connection, ioredis (6.0)
 * goes on in database 0. So the first calls on each connection wait for a `SELECT` of ours. Database 0 needs none, since new connections are in it.
 */
class ChosenDatabase {
  readonly #client: IoredisSender & Selecting;
  /** The last connection whose database is certain, and that database. */
  #confirmed: { readonly stream: unknown; readonly database: number } | undefined;

  constructor(client: IoredisSender) {
    this.#client = client as IoredisSender & Selecting;
  }

  /** The database that `select()` chose last, else the one in the options. */
  get number(): number {
    const { prevCondition, condition, options } = this.#client;
    return (prevCondition ?? condition)?.select ?? options?.db ?? 0;
  }

  /** Makes a call in the chosen database. Rejects if the database is not certain. */
  async within<T>(call: () => Promise<T>): Promise<T> {
    const database = this.number;
    let { stream } = this.#client;
    // While the client connects again, `stream` is still the old stream, but new commands wait for the new stream.
    const isCertain = this.#client.status === 'ready' && this.#confirmed?.stream === stream;
    if (!isCertain || this.#confirmed?.database !== database) {
      await selectDatabase(this.#client, database);
      stream = this.#client.stream;
      this.#confirmed = { stream, database };
    }
    const answer = await call();
    if (this.#client.stream === stream) return answer;
    // The client sent the command again over another connection, perhaps before that connection was in the database.
    throw new Error(`the connection was lost and it was sent again: it is not known if it ran in database ${database}`);
  }
}

/** @throws LockError `LOCK_UNAVAILABLE` if the server refuses the database */
async function selectDatabase(client: IoredisSender, database: number): Promise<void> {
  try {
    await client.call('select', `${database}`);
  } catch (error) {
    if (!['ERR', 'NOPERM', 'NOAUTH'].some((code) => isReply(error, code))) throw error;
    const message = `redis refused database ${database}: ${(error as Error).message}. What to do: name a database of the server, and grant the user +select`;
    throw new LockError('LOCK_UNAVAILABLE', message, { backend: 'redis', cause: error });
  }
}
