import { counted, invalid } from '../../core/index.ts';

/** What holdfast uses of a statement of node-postgres (`pg`). Any client and pool of this shape will do. */
export interface PgQuery {
  /** The statement. */
  readonly text: string;
  /** Its parameters, in order. */
  readonly values?: unknown[];
  /** The statement is prepared once per connection, under this name. */
  readonly name?: string;
  /** ms after which pg gives the statement up, and the pool drops the connection. */
  readonly query_timeout?: number;
}

export type PoolRow = Record<string, unknown>;

/** Statements give 0 or 1: an application may have changed how its driver reads a boolean. */
export const isTrue = (bit: unknown): boolean => Number(bit) === 1;

/** What holdfast uses of a connection of `pg`. */
export interface PgClient {
  connect(): Promise<unknown>;
  query(query: PgQuery): Promise<{ rows: PoolRow[] }>;
  on(event: string, listener: (argument: never) => void): unknown;
  end(): Promise<void>;
  ref?(): void;
  unref?(): void;
  /** The server's process, as it was told when the connection was made. */
  readonly processID?: number | null;
  readonly connection?: { readonly stream?: { destroy(): unknown } };
}

/** What holdfast uses of a `pg` pool. */
export interface PgPool {
  query(query: PgQuery): Promise<{ rows: PoolRow[] }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off?(event: 'error', listener: (error: Error) => void): unknown;
}

/** @throws LockError `LOCK_INVALID` when it is no pool. A single client is none: our statements would run in its transaction. */
export function checkPool(pool: PgPool): PgPool {
  const { query, on } = Object(pool) as Partial<PgPool>;
  if (isNative(pool)) {
    throw invalid(
      'postgres() and postgresAdvisory() refuse the pool of pg.native, which sends bytes as text and has no query_timeout: use new pg.Pool(…) of pg itself, without NODE_PG_FORCE_NATIVE',
    );
  }
  if (typeof query === 'function' && typeof on === 'function' && !('processID' in pool)) return pool;
  throw invalid(
    'postgres() and postgresAdvisory() need a pool: new pg.Pool(…), not a client and not a URL; postgres() takes the sql of postgres.js, PGlite or Bun.SQL, too',
  );
}

/** Makes a client that is not connected yet. */
export type Dial = () => PgClient;

/** pg-pool keeps the class and the options of its clients, and counts them, though its types do not say so. */
interface PoolParts {
  readonly Client?: new (options: object) => PgClient;
  readonly options?: { readonly query_timeout?: number; readonly max?: number };
  readonly totalCount?: number;
  readonly idleCount?: number;
  readonly waitingCount?: number;
  readonly ending?: boolean;
}

/** Whether its clients are those of libpq (`pg-native`). The client in JavaScript has the second of these, and not the first. */
function isNative(pool: PgPool): boolean {
  const made: object = Object((Object(pool) as PoolParts).Client?.prototype);
  return 'isConnected' in made && !('getStartupConf' in made);
}

export const isEnded = (pool: PgPool): boolean => (pool as PoolParts).ending === true;

/** Longest time for one statement, ms. Without a limit, a link that fell silent would keep its connection from the pool for ever. */
const MAX_STATEMENT_MS = 10_000;

/** The pool may allow its own statements less. */
export const patienceOf = (pool: PgPool): number =>
  Math.min((pool as PoolParts).options?.query_timeout || MAX_STATEMENT_MS, MAX_STATEMENT_MS);

/**
 * How to open a connection like the pool's, outside the pool. A connection of the pool that listens or waits for long would be
 * missing for the user's requests, and a pool of one would stand still.
 */
export function dialLike(pool: PgPool): Dial | undefined {
  const { Client, options } = pool as PoolParts;
  if (!Client || !options) return undefined;
  // Read by descriptors: the pool hides the password from enumeration.
  const config = Object.defineProperties({}, Object.getOwnPropertyDescriptors(options));
  return () => new Client(Object.assign(config, { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }));
}

/** @throws LockError `LOCK_INVALID` where nobody says how a connection is opened */
export function dialOf(pool: PgPool, connect: Dial | false | undefined): Dial {
  const dial = connect || dialLike(pool);
  if (dial) return dial;
  throw invalid('this pool does not tell how to open a connection like its own; give `connect`');
}

/** Connections that are there already, and free; 0 where the pool does not tell. */
export const idleOf = (pool: PgPool): number => (pool as PoolParts).idleCount ?? 0;

/** Why a statement may not be sent: no connection of the pool is free. Undefined where one is, or where the pool does not tell. */
export function busyPool(pool: PgPool): string | undefined {
  const { totalCount, idleCount, waitingCount, options } = pool as PoolParts;
  if (!waitingCount || idleCount || totalCount === undefined || totalCount < (options?.max ?? totalCount))
    return undefined;
  return `all ${counted(totalCount, 'connection')} of the pool are in use, and ${counted(waitingCount, 'statement waits', 'statements wait')} for one`;
}
