import { counted, invalid } from '../../core/index.ts';

/** What holdfast uses of a statement of node-postgres (`pg`). Any client and pool of this shape will do. */
export interface PgQuery {
  /** The statement. */
  readonly text: string;
  /** Its parameters, in order. */
  readonly values?: unknown[];
  /** The statement is prepared once per connection, under this name. */
  readonly name?: string;
  /** ms after which pg gives up the statement, and the pool drops the connection. */
  readonly query_timeout?: number;
}

export type PoolRow = Record<string, unknown>;

/** Our statements give a boolean as 0 or 1, since an application may have changed how its driver reads a boolean. */
export const isTrue = (bit: unknown): boolean => Number(bit) === 1;

/** What holdfast uses of a connection of `pg`. */
export interface PgClient {
  connect(): Promise<unknown>;
  query(query: PgQuery): Promise<{ rows: PoolRow[] }>;
  on(event: string, listener: (argument: never) => void): unknown;
  end(): Promise<void>;
  ref?(): void;
  unref?(): void;
  /** The number of the server's process, which the server sent when the connection was made. */
  readonly processID?: number | null;
  readonly connection?: { readonly stream?: { destroy(): unknown } };
}

/** What holdfast uses of a `pg` pool. */
export interface PgPool {
  query(query: PgQuery): Promise<{ rows: PoolRow[] }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off?(event: 'error', listener: (error: Error) => void): unknown;
}

/** @throws LockError `LOCK_INVALID` if `pool` is no pool. A single client is refused: our statements would run in its transaction. */
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

/** Properties of pg-pool that its types leave out: the class and the options of its clients, and how many there are. */
interface PoolParts {
  readonly Client?: new (options: object) => PgClient;
  readonly options?: { readonly query_timeout?: number; readonly max?: number };
  readonly totalCount?: number;
  readonly idleCount?: number;
  readonly waitingCount?: number;
  readonly ending?: boolean;
}

/** Whether the clients of the pool are those of libpq (`pg-native`). Only the client in JavaScript has `getStartupConf`. */
function isNative(pool: PgPool): boolean {
  const made: object = Object((Object(pool) as PoolParts).Client?.prototype);
  return 'isConnected' in made && !('getStartupConf' in made);
}

export const isEnded = (pool: PgPool): boolean => (pool as PoolParts).ending === true;

/** The longest time for one statement, ms. Without a limit, a connection that fell silent would never go back to the pool. */
const MAX_STATEMENT_MS = 10_000;

/** The limit of a statement, ms: the pool's own limit, if that is shorter. */
export const statementLimitOf = (pool: PgPool): number =>
  Math.min((pool as PoolParts).options?.query_timeout || MAX_STATEMENT_MS, MAX_STATEMENT_MS);

/**
 * Gives a function that opens a connection like the pool's, outside the pool; undefined if the pool does not show how. A connection that listens
 * or waits for long must not be one of the pool's: the application could not use it, and a pool of one connection would be blocked.
 */
export function dialLike(pool: PgPool): Dial | undefined {
  const { Client, options } = pool as PoolParts;
  if (!Client || !options) return undefined;
  // Copies descriptors, since the password is not enumerable in the options of the pool.
  const config = Object.defineProperties({}, Object.getOwnPropertyDescriptors(options));
  return () => new Client(Object.assign(config, { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }));
}

/** @throws LockError `LOCK_INVALID` if there is no `connect`, and the pool does not show how to open a connection */
export function dialOf(pool: PgPool, connect: Dial | false | undefined): Dial {
  const dial = connect || dialLike(pool);
  if (dial) return dial;
  throw invalid('this pool does not show how to open a connection like its own; give `connect`');
}

/** The number of open connections that are free; 0 if the pool does not show it. */
export const idleOf = (pool: PgPool): number => (pool as PoolParts).idleCount ?? 0;

/** Why a statement may have to wait: all connections of the pool are in use. Undefined if one is free, or the pool does not show the numbers. */
export function busyPool(pool: PgPool): string | undefined {
  const { totalCount, idleCount, waitingCount, options } = pool as PoolParts;
  if (!waitingCount || idleCount || totalCount === undefined || totalCount < (options?.max ?? totalCount))
    return undefined;
  return `all ${counted(totalCount, 'connection')} of the pool are in use, and ${counted(waitingCount, 'statement waits', 'statements wait')} for one`;
}
