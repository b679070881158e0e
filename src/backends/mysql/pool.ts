import { counted, invalid } from '../../core/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: mysql2's own types of rows and values; the types that are used are below
type QueryCallback = (error: any, result: any) => void;

export interface CallbackPool {
  /** Shows that this is a pool of mysql2. A cluster of pools has no such method: it would send one lock to different servers. */
  promise(): unknown;
  getConnection(done: (error: Error | null, connection: Connection) => void): void;
}

/** What holdfast uses of a connection of the pool. */
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

/** The answer to a statement that changes rows. */
export interface Header {
  readonly affectedRows: number;
  /** A text if it is too large for a number. */
  readonly insertId: number | string | bigint;
  readonly serverStatus?: number;
}

export type PoolRow = Readonly<Record<string, unknown>>;
export type Value = string | Buffer;

/** The form of our rows, also where the options of the pool ask for another one. */
const ROWS = { rowsAsArray: false, nestTables: false, typeCast: true } as const;
type QueryOptions = typeof ROWS & { sql: string; values?: Value[] };

/** Properties of mysql2's pool that its types leave out. */
interface PoolState {
  readonly _closed?: boolean;
  readonly _allConnections?: { readonly length: number; get?(at: number): Connection | undefined };
  readonly _freeConnections?: { readonly length: number };
  readonly _connectionQueue?: { readonly length: number };
  readonly config?: { readonly connectionLimit?: number; readonly connectionConfig?: object };
}

/** The pool with promises of the package `mariadb`. */
export interface MariadbPool {
  readonly closed: boolean;
  totalConnections(): number;
  getConnection(): Promise<MariadbConnection>;
}

interface MariadbConnection extends Pick<Connection, 'threadId' | 'destroy' | 'on' | 'removeListener'> {
  /** The flags of the session in the last answer of the server. */
  readonly info: { readonly status: number } | null;
  execute(statement: Form): Promise<unknown>;
  query(statement: Form): Promise<unknown>;
  release(): Promise<void>;
}

/** False for the pool with callbacks of `mariadb`: that has the same methods, but its `getConnection` takes an argument. */
const isMariadbPool = (pool: unknown): pool is MariadbPool => {
  const { getConnection, totalConnections } = (pool ?? {}) as Partial<MariadbPool>;
  return typeof totalConnections === 'function' && typeof getConnection === 'function' && getConnection.length === 0;
};

/** Wraps a pool of `mariadb` as one with the callbacks of mysql2. */
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
    // `mariadb` has the status on the connection, and mysql2 has it in each answer.
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
    // If the connection cannot go back to the pool, it has ended.
    release: () => void connection.release().catch(() => {}),
    /**
     * In the middle of a statement, `destroy` of the driver (3.5) opens another connection to kill this session. If the session has ended by
     * then, the server refuses, and the driver leaves that rejection unhandled, which ends the process. So this first waits for the answer.
     */
    destroy: () => void answered.then(() => connection.destroy()),
    on: (event, listener) => connection.on(event, listener),
    removeListener: (event, listener) => connection.removeListener(event, listener),
  };
}

/** The form of our rows for `mariadb`, which takes a type cast as a function, and has more options. */
const FORM = {
  ...{ ...ROWS, typeCast: undefined },
  ...{ namedPlaceholders: false, metaAsArray: false, bigIntAsNumber: false, insertIdAsNumber: false },
};
type Form = typeof FORM & { sql: string; values?: Value[] };

const formOf = ({ sql, values }: { readonly sql: string; readonly values?: Value[] }): Form =>
  values ? { ...FORM, sql, values } : { ...FORM, sql };

/** A pool of mysql2, with callbacks or with promises; or a pool with promises of the package `mariadb`. */
export type MysqlPool = CallbackPool | { readonly pool: CallbackPool } | MariadbPool;

/**
 * Sends a statement; `execute` also prepares it. This uses callbacks, since mysql2's promises make an error with a stack for each call.
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
  // mysql2 (3.24) still waits for the server to end the connection. A server that fell silent would keep the process alive.
  connection.stream?.destroy();
}

/** @throws LockError `LOCK_INVALID` for what is no pool */
export function coreOf(pool: MysqlPool): CallbackPool {
  const core = (pool as { readonly pool?: CallbackPool } | undefined)?.pool ?? (pool as CallbackPool | undefined);
  if (typeof core?.getConnection === 'function' && typeof core.promise === 'function') return core;
  if (isMariadbPool(pool)) return asMysql2Pool(pool);
  throw invalid(
    'mysql() and mysqlNamed() need a pool of mysql2, or one of mariadb with promises: createPool(…), not a connection, a cluster of pools, a pool of another driver or a URL',
  );
}

/** The errors of statements that were not sent, as no connection could be had. */
const unsent = new WeakSet<Error>();
export const isUnsent = (error: unknown): boolean => unsent.has(error as Error);

export function borrow(pool: CallbackPool): Promise<Connection> {
  return new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => {
      if (!error) return resolve(connection);
      unsent.add(error);
      reject(error);
    });
  });
}

/** The number of connections of the pool; 0 if the pool does not show it. */
export const openIn = (pool: CallbackPool): number => (pool as PoolState)._allConnections?.length ?? 0;

/** Why a statement may not be sent: all connections of the pool are in use. Undefined if a connection is free, or the pool does not show that. */
export function busyPool(pool: MysqlPool): string | undefined {
  const { _allConnections: all, _freeConnections: free, _connectionQueue: queue, config } = coreOf(pool) as PoolState;
  if (!all?.length || !queue?.length || free?.length || all.length < (config?.connectionLimit ?? 0)) return undefined;
  return `all ${counted(all.length, 'connection')} of the pool are in use, and ${counted(queue.length, 'statement waits', 'statements wait')} for one`;
}

export const isEnded = (pool: MysqlPool): boolean => (coreOf(pool) as PoolState)._closed === true;

export type PoolOfOne = CallbackPool & PoolState & { end(done: (error?: unknown) => void): void };

/**
 * Makes a pool of one connection like those of `pool`: of the same class, with the same options. mysql2 has no other way to open such a
 * connection. The first statement opens it.
 * @param wanted true: makes it; false: does not; undefined: makes it if `pool` shows how
 * @throws LockError `LOCK_INVALID` if it is wanted, and `pool` does not show how
 */
export function poolOfOne(pool: MysqlPool, wanted: boolean | undefined): PoolOfOne | undefined {
  const core = coreOf(pool) as CallbackPool & PoolState;
  const { config } = core;
  if (!(wanted ?? config?.connectionConfig)) return undefined;
  if (!config?.connectionConfig)
    throw invalid('this pool does not show how to open a connection like its own: leave out ownConnection');
  const connectionConfig = copyOf(config.connectionConfig, {}); // the pool writes to it
  const limits = { connectionLimit: 1, maxIdle: 1, waitForConnections: true, queueLimit: 0 };
  const one = copyOf(config, { connectionConfig, ...limits });
  return new (core.constructor as new (options: object) => PoolOfOne)({ config: one });
}

/** Ends the pool and its connection at once. The end of mysql2 (3.24) alone waits for the server without a limit. */
export function endPoolOfOne(pool: PoolOfOne): void {
  pool.end(() => {});
  const connection = pool._allConnections?.get?.(0);
  if (connection) destroy(connection);
}

function copyOf(given: object, changes: object): object {
  return Object.assign(Object.create(Object.getPrototypeOf(given), Object.getOwnPropertyDescriptors(given)), changes);
}
