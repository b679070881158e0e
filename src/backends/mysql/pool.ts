/** The part of mysql2 that is used: its promise pool, or its callback pool, which can give one. */
export type MysqlPool = PromisePool | { promise(): PromisePool };

export interface PromisePool {
  getConnection(): Promise<Connection>;
}

export interface Connection {
  readonly threadId: number | null;
  // biome-ignore lint/suspicious/noExplicitAny: mysql2's own type of the values; ours are strings and buffers
  execute(sql: string, values?: any): Promise<[unknown, unknown]>;
  query(sql: string): Promise<[unknown, unknown]>;
  release(): void;
  destroy(): void;
  on(event: 'error' | 'end', listener: (error?: unknown) => void): unknown;
  removeListener(event: 'error' | 'end', listener: (error?: unknown) => void): unknown;
}

/** What a statement that changes rows answers. */
export interface Header {
  readonly affectedRows: number;
  /** A text where it is too large for a number. */
  readonly insertId: number | string;
  readonly serverStatus?: number;
}

export type Row = Readonly<Record<string, unknown>>;
export type Value = string | Buffer;

export const promised = (pool: MysqlPool): PromisePool => ('promise' in pool ? pool.promise() : pool);
