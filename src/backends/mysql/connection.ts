// biome-ignore lint/suspicious/noExplicitAny: mysql2's own types of rows and values; those used are below
type QueryCallback = (error: any, result: any) => void;

/** What holdfast uses of it. */
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

export type Row = Readonly<Record<string, unknown>>;
export type Value = string | Buffer;

/** The form of our rows. The pool may be set to another one. */
export const ROWS = { rowsAsArray: false, nestTables: false, typeCast: true } as const;
export type QueryOptions = typeof ROWS & { sql: string; values?: Value[] };

/** What mysql2's pool knows, though its types do not say so. */
export interface PoolState {
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
export const isMariadbPool = (pool: unknown): pool is MariadbPool => {
  const { getConnection, totalConnections } = (pool ?? {}) as Partial<MariadbPool>;
  return typeof totalConnections === 'function' && typeof getConnection === 'function' && getConnection.length === 0;
};

/** It as a pool with the callbacks that mysql2 has. */
export const likeMysql2 = (pool: MariadbPool): CallbackPool & PoolState => ({
  promise: () => pool,
  getConnection(done) {
    pool.getConnection().then(
      (connection) => done(null, new LikeMysql2(connection)),
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

class LikeMysql2 implements Connection {
  readonly #connection: MariadbConnection;
  /** Settled when no statement is under way. */
  #answered: Promise<void> = Promise.resolve();

  constructor(connection: MariadbConnection) {
    this.#connection = connection;
  }

  get threadId(): number | null {
    return this.#connection.threadId;
  }

  execute: Connection['execute'] = (statement, done) => this.#answer(this.#connection.execute(formOf(statement)), done);
  query: Connection['query'] = (statement, done) => this.#answer(this.#connection.query(formOf(statement)), done);

  #answer(answer: Promise<unknown>, done: Parameters<Connection['execute']>[1]): void {
    this.#answered = answer.then(
      (result) => done(null, Array.isArray(result) ? result : this.#headerOf(result as Header)),
      (error) => done(error, undefined),
    );
  }

  /** This driver has on the connection what mysql2 has in each answer. */
  #headerOf({ affectedRows, insertId }: Header): Header {
    return { affectedRows, insertId, serverStatus: this.#connection.info?.status ?? 0 };
  }

  release(): void {
    // One that cannot go back has ended.
    this.#connection.release().catch(() => {});
  }

  /**
   * In the middle of a statement, the driver (3.5) opens another connection to kill this session. When the session has ended by then, the
   * refusal is an unhandled rejection, which ends the process. So this waits for the answer, or for the end of the socket.
   */
  destroy(): void {
    this.#answered.then(() => this.#connection.destroy());
  }

  on: Connection['on'] = (event, listener) => this.#connection.on(event, listener);
  removeListener: Connection['removeListener'] = (event, listener) => this.#connection.removeListener(event, listener);
}

/** The form of our rows, and what only this driver can be set to. Of it, a type cast is a function. */
const FORM = {
  ...{ ...ROWS, typeCast: undefined },
  ...{ namedPlaceholders: false, metaAsArray: false, bigIntAsNumber: false, insertIdAsNumber: false },
};
type Form = typeof FORM & { sql: string; values?: Value[] };

const formOf = ({ sql, values }: { readonly sql: string; readonly values?: Value[] }): Form =>
  values ? { ...FORM, sql, values } : { ...FORM, sql };
