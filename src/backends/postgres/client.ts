/** What is used of node-postgres (`pg`): any client and pool of this shape will do. */
export interface PgQuery {
  readonly text: string;
  readonly values?: unknown[];
  /** Prepared once per connection under this name. */
  readonly name?: string;
}

export type Row = Record<string, unknown>;

export interface PgClient {
  connect(): Promise<unknown>;
  query(query: PgQuery): Promise<{ rows: Row[] }>;
  on(event: string, listener: (argument: never) => void): unknown;
  end(): Promise<void>;
  unref?(): void;
  /** Of the server's process, as told when the connection was made. */
  readonly processID?: number | null;
  readonly connection?: { readonly stream?: { destroy(): unknown } };
}

export interface PgPool {
  query(query: PgQuery): Promise<{ rows: Row[] }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off?(event: 'error', listener: (error: Error) => void): unknown;
}

/** Makes a client, not yet connected. */
export type Dial = () => PgClient;

/** pg-pool keeps the class and the options that it makes its clients with, though its types do not tell. */
interface PoolParts {
  readonly Client?: new (options: object) => PgClient;
  readonly options?: object;
}

/**
 * How to open a connection like the pool's, outside the pool: one that listens or waits for long would otherwise be taken
 * from the user's requests, and a pool of one would stand still.
 */
export function dialLike(pool: PgPool): Dial | undefined {
  const { Client, options } = pool as PoolParts;
  if (!Client || !options) return undefined;
  // Property by property: the pool hides the password from enumeration. A query here may take as long as it takes.
  const config = Object.defineProperties(
    {},
    {
      ...Object.getOwnPropertyDescriptors(options),
      ...Object.getOwnPropertyDescriptors({ query_timeout: 0, keepAlive: true, keepAliveInitialDelayMillis: 10_000 }),
    },
  );
  return () => new Client(config);
}
