import { counted, invalid } from '../../core/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: mysql2's own types of rows and values; those used are below
type QueryCallback = (error: any, result: any) => void;

export interface CallbackPool {
  /** Pools of other drivers do not have it, nor does a cluster of pools, which would lock now on one server and now on another. */
  promise(): unknown;
  getConnection(done: (error: Error | null, connection: Connection) => void): void;
}

/** What holdfast uses of one of its connections. */
export interface Connection {
  readonly threadId: number | null;
  execute(statement: QueryOptions, done: QueryCallback): unknown;
  query(statement: QueryOptions, done: QueryCallback): unknown;
  release(): void;
  destroy(): void;
  readonly stream?: { destroy(): unknown };
  on(event: 'error' | 'end', listener: (error?: unknown) => void): unknown;
  removeListener(event: 'error' | 'end', listener: (error?: unknown) => void): unknown;
}

/** What a statement that changes rows answers. */
export interface Header {
  readonly affectedRows: number;
  /** Text where it is too large for a number. */
  readonly insertId: number | string | bigint;
  readonly serverStatus?: number;
}

export type PoolRow = Readonly<Record<string, unknown>>;
export type Value = string | Buffer;

/** The form of our rows. The pool may be set to another one. */
const ROWS = { rowsAsArray: false, nestTables: false, typeCast: true } as const;
type QueryOptions = typeof ROWS & { sql: string; values?: Value[] };

/** What mysql2's pool knows, though its types do not say so. */
interface PoolState {
  readonly _closed?: boolean;
  readonly _allConnections?: { readonly length: number };
  readonly _freeConnections?: { readonly length: number };
  readonly _connectionQueue?: { readonly length: number };
  readonly config?: { readonly connectionLimit?: number; readonly connectionConfig?: object };
}

/** The pool of the package `mariadb`, the one with promises. */
export interface MariadbPool {
  readonly closed: boolean;
  totalConnections(): number;
  getConnection(): Promise<MariadbConnection>;
}

interface MariadbConnection extends Pick<Connection, 'threadId' | 'destroy' | 'on' | 'removeListener'> {
  /** What the last answer of the server said about the session. */
  readonly info: { readonly status: number } | null;
  execute(statement: Form): Promise<unknown>;
  query(statement: Form): Promise<unknown>;
  release(): Promise<void>;
}

/** The one with callbacks has these, too, but its `getConnection` takes one. */
const isMariadbPool = (pool: unknown): pool is MariadbPool => {
  const { getConnection, totalConnections } = (pool ?? {}) as Partial<MariadbPool>;
  return typeof totalConnections === 'function' && typeof getConnection === 'function' && getConnection.length === 0;
};

/** It as a pool with the callbacks that mysql2 has. */
const asMysql2Pool = (pool: MariadbPool): CallbackPool & PoolState => ({
  promise: () => pool,
  getConnection(done) {
    pool.getConnection().then(
      (connection) => done(null, asMysql2Connection(connection)),
      (error: Error) => done(error, undefined as never),
    );
  },
  get _closed() {
    return pool.closed;
  },
  get _allConnections() {
    return { length: pool.totalConnections() };
  },
});

function asMysql2Connection(connection: MariadbConnection): Connection {
  /** Settled when no statement is under way. */
  let answered: Promise<void> = Promise.resolve();
  const answer = (sent: Promise<unknown>, done: QueryCallback): void => {
    // This driver has on the connection what mysql2 has in each answer.
    const headerOf = ({ affectedRows, insertId }: Header): Header => ({
      ...{ affectedRows, insertId },
      serverStatus: connection.info?.status ?? 0,
    });
    answered = sent.then(
      (result) => done(null, Array.isArray(result) ? result : headerOf(result as Header)),
      (error) => done(error, undefined),
    );
  };
  return {
    get threadId() {
      return connection.threadId;
    },
    execute: (statement, done) => answer(connection.execute(formOf(statement)), done),
    query: (statement, done) => answer(connection.query(formOf(statement)), done),
    // One that cannot go back has ended.
    release: () => void connection.release().catch(() => {}),
    /**
     * In the middle of a statement, the driver (3.5) opens another connection to kill this session. When the session has ended by then,
     * the refusal is an unhandled rejection, which ends the process. So this waits for the answer, or for the end of the socket.
     */
    destroy: () => void answered.then(() => connection.destroy()),
    on: (event, listener) => connection.on(event, listener),
    removeListener: (event, listener) => connection.removeListener(event, listener),
  };
}

/** The form of our rows, and what only this driver can be set to. Of it, a type cast is a function. */
const FORM = {
  ...{ ...ROWS, typeCast: undefined },
  ...{ namedPlaceholders: false, metaAsArray: false, bigIntAsNumber: false, insertIdAsNumber: false },
};
type Form = typeof FORM & { sql: string; values?: Value[] };

const formOf = ({ sql, values }: { readonly sql: string; readonly values?: Value[] }): Form =>
  values ? { ...FORM, sql, values } : { ...FORM, sql };

/** mysql2's pool: the one with callbacks, or the one with promises, which contains the other. Or that of the package `mariadb`. */
export type MysqlPool = CallbackPool | { readonly pool: CallbackPool } | MariadbPool;

/**
 * Sends a statement, prepared by `execute`. It uses callbacks: mysql2's promises make an error, with its stack, for each call.
 * @returns rows, or a header
 */
export const ask = (
  connection: Connection,
  how: 'execute' | 'query',
  statement: Omit<QueryOptions, keyof typeof ROWS>,
) =>
  new Promise<unknown>((resolve, reject) => {
    connection[how]({ ...statement, ...ROWS }, (error, result) => (error ? reject(error) : resolve(result)));
  });

export function destroy(connection: Connection): void {
  connection.destroy();
  // mysql2 (3.24) then waits for the server to hang up. A server that fell silent would keep the process alive.
  connection.stream?.destroy();
}

/** @throws LockError `LOCK_INVALID` when it is no pool */
export function coreOf(pool: MysqlPool): CallbackPool {
  const core = (pool as { readonly pool?: CallbackPool } | undefined)?.pool ?? (pool as CallbackPool | undefined);
  if (typeof core?.getConnection === 'function' && typeof core.promise === 'function') return core;
  if (isMariadbPool(pool)) return asMysql2Pool(pool);
  throw invalid(
    'mysql() and mysqlNamed() need a pool of mysql2, or one of mariadb with promises: createPool(…), not a connection, a cluster of pools, a pool of another driver or a URL',
  );
}

export function borrow(pool: CallbackPool): Promise<Connection> {
  return new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)));
  });
}

/** How many connections it has; 0 where it does not tell. */
export const openIn = (pool: CallbackPool): number => (pool as PoolState)._allConnections?.length ?? 0;

/** Why a statement may not be sent: no connection of the pool is free. Undefined where one is, or where the pool does not tell. */
export function busyPool(pool: MysqlPool): string | undefined {
  const { _allConnections: all, _freeConnections: free, _connectionQueue: queue, config } = coreOf(pool) as PoolState;
  if (!all?.length || !queue?.length || free?.length || all.length < (config?.connectionLimit ?? 0)) return undefined;
  return `all ${counted(all.length, 'connection')} of the pool are in use, and ${counted(queue.length, 'statement waits', 'statements wait')} for one`;
}

export const isEnded = (pool: MysqlPool): boolean => (coreOf(pool) as PoolState)._closed === true;

/** Whether it tells how to open a connection like its own. */
export const canMakeLike = (pool: MysqlPool): boolean =>
  (coreOf(pool) as PoolState).config?.connectionConfig !== undefined;

export type PoolOfOne = CallbackPool & { end(done: (error?: unknown) => void): void };

/**
 * A pool of one connection like those of `pool`: of the same class, with the same options. mysql2 gives no other way to such a
 * connection. It is opened when it is needed.
 * @throws LockError `LOCK_INVALID` when the pool does not tell
 */
export function poolOfOne(pool: MysqlPool): PoolOfOne {
  const core = coreOf(pool) as CallbackPool & PoolState;
  const { config } = core;
  if (!config?.connectionConfig) {
    throw invalid('this pool does not tell how to open a connection like its own: leave out ownConnection');
  }
  const connectionConfig = copyOf(config.connectionConfig, {}); // the pool writes to it
  const one = copyOf(config, {
    connectionConfig,
    connectionLimit: 1,
    maxIdle: 1,
    waitForConnections: true,
    queueLimit: 0,
  });
  return new (core.constructor as new (options: object) => PoolOfOne)({ config: one });
}

function copyOf(given: object, changes: object): object {
  return Object.assign(Object.create(Object.getPrototypeOf(given), Object.getOwnPropertyDescriptors(given)), changes);
}
