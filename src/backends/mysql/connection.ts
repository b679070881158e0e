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
