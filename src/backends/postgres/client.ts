import { invalid } from '../../core/errors.ts';

/** What is used of a statement of node-postgres (`pg`): any client and pool of this shape will do. */
export interface PgQuery {
  /** The statement. */
  readonly text: string;
  /** Its parameters, in order. */
  readonly values?: unknown[];
  /** Prepared once per connection under this name. */
  readonly name?: string;
  /** ms after which pg gives it up, and the pool the connection with it. */
  readonly query_timeout?: number;
}

export type Row = Record<string, unknown>;

/** Of a truth that was asked for as 0 or 1: an application may have its own idea of what a boolean is to be read as. */
export const isTrue = (bit: unknown): boolean => Number(bit) === 1;

/** What is used of a connection of `pg`. */
export interface PgClient {
  connect(): Promise<unknown>;
  query(query: PgQuery): Promise<{ rows: Row[] }>;
  on(event: string, listener: (argument: never) => void): unknown;
  end(): Promise<void>;
  ref?(): void;
  unref?(): void;
  /** Of the server's process, as told when the connection was made. */
  readonly processID?: number | null;
  readonly connection?: { readonly stream?: { destroy(): unknown } };
}

/** What is used of a `pg` pool. */
export interface PgPool {
  query(query: PgQuery): Promise<{ rows: Row[] }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off?(event: 'error', listener: (error: Error) => void): unknown;
}

/** @throws LockError `LOCK_INVALID` when it is none, as one client is, whose transaction would be ours too */
export function checkPool(pool: PgPool): PgPool {
  const { query, on } = Object(pool) as Partial<PgPool>;
  if (typeof query === 'function' && typeof on === 'function' && !('processID' in pool)) return pool;
  throw invalid('postgres() and postgresAdvisory() need a pool: new pg.Pool(…), not a client and not a URL');
}

/** Makes a client, not yet connected. */
export type Dial = () => PgClient;

/** pg-pool keeps the class and the options that it makes its clients with, though its types do not tell. */
interface PoolParts {
  readonly Client?: new (options: object) => PgClient;
  readonly options?: { readonly query_timeout?: number };
}

/** Longest time for one statement, ms. A link that fell silent without a word would keep its connection from the pool for ever. */
const PATIENCE = 10_000;

/** That, or what the pool allows its own statements where it is less. */
export const patienceOf = (pool: PgPool): number =>
  Math.min((pool as PoolParts).options?.query_timeout || PATIENCE, PATIENCE);

/**
 * How to open a connection like the pool's, outside the pool: one that listens or waits for long would otherwise be taken
 * from the user's requests, and a pool of one would stand still.
 */
export function dialLike(pool: PgPool): Dial | undefined {
  const { Client, options } = pool as PoolParts;
  if (!Client || !options) return undefined;
  // Property by property: the pool hides the password from enumeration.
  const config = Object.defineProperties(
    {},
    {
      ...Object.getOwnPropertyDescriptors(options),
      ...Object.getOwnPropertyDescriptors({ keepAlive: true, keepAliveInitialDelayMillis: 10_000 }),
    },
  );
  return () => new Client(config);
}

/** What pg-pool counts. */
interface PoolCounts {
  readonly totalCount?: number;
  readonly idleCount?: number;
  readonly waitingCount?: number;
  readonly options?: { readonly max?: number };
}

/** What keeps a statement from being sent: that no connection of the pool is free. Undefined where one is, or nothing is told. */
export function busyPool(pool: PgPool): string | undefined {
  const { totalCount, idleCount, waitingCount, options } = pool as PoolCounts;
  if (!waitingCount || idleCount || totalCount === undefined || totalCount < (options?.max ?? totalCount))
    return undefined;
  return `all ${totalCount} connections of the pool are in use, and ${waitingCount} statements wait for one`;
}
