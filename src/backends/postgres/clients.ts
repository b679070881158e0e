import { type Clock, inMs, invalid, withLimit } from '../../core/index.ts';
import { isReadOnly } from './errors.ts';
import { checkPool, type PgPool, type PgQuery, type PoolRow } from './pool.ts';

/** What holdfast uses of the `sql` of `postgres` (postgres.js 3), or of `SQL` of Bun, which has the same methods. */
export interface SqlFunction {
  unsafe(text: string, values: never[], options: object): PromiseLike<unknown>;
  /** An older Bun lacks this method. Then waiters poll. */
  listen?(
    channel: string,
    onNotify: (payload: string) => void,
    onListening: () => void,
  ): PromiseLike<{ unlisten(): unknown }>;
  reserve(): unknown;
  readonly options: {
    /** Only Bun has this property: Bun has adapters for MySQL and SQLite, too. */
    readonly adapter?: string;
    readonly transform?: { readonly column?: { readonly from?: unknown } };
  };
}

/** What holdfast uses of `PGlite` (`@electric-sql/pglite`). That database is inside this process, so its locks keep out no other process. */
export interface Pglite {
  query(text: string, values?: never[]): Promise<{ rows: unknown[] }>;
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>;
  readonly waitReady: Promise<void>;
  readonly closed: boolean;
}

/** A pool of `pg`, or a client of `postgres` (postgres.js), PGlite or `Bun.SQL`. */
export type PostgresClient = PgPool | SqlFunction | Pglite;

/**
 * Listens on a channel. The client connects again by itself, and calls `onListening` each time that it listens.
 * @returns a function that stops listening
 */
export type Listen = (
  channel: string,
  onNotify: (payload: string) => void,
  onListening: () => void,
) => Promise<() => unknown>;

type Ask = (query: PgQuery, values: never[]) => PromiseLike<unknown>;

/**
 * Wraps the client as a pool of `pg`, with the client's own way to listen. A pool of `pg` has no such way: we open a connection that listens.
 * @throws LockError `LOCK_INVALID` if `client` is none of these clients
 */
export function poolOf(client: PostgresClient, clock: Clock): { pool: PgPool; listen?: Listen | undefined } {
  if (isSql(client)) return overSql(client, clock);
  if (isPglite(client)) return overPglite(client, clock);
  return { pool: checkPool(client as PgPool) };
}

/** @throws LockError `LOCK_INVALID` if the client gives us no session */
export function checkSessions(client: unknown): void {
  const name = isSql(client) ? (client.options.adapter ? 'Bun.SQL' : 'postgres.js') : isPglite(client) && 'PGlite';
  if (!name) return;
  throw invalid(
    `postgresAdvisory() needs sessions that report their end, and ${name} has none; use postgres(), or a pool of pg beside it`,
  );
}

const can = (client: unknown, ...calls: string[]): boolean =>
  calls.every((call) => typeof (client as Record<string, unknown> | undefined)?.[call] === 'function');

/** Our statements must commit by themselves. So the `sql` of a transaction or a reserved connection, which has no `options`, is refused. */
const isSql = (client: unknown): client is SqlFunction =>
  typeof client === 'function' && can(client, 'unsafe', 'reserve') && 'options' in client;
const isPglite = (client: unknown): client is Pglite => can(client, 'query', 'exec', 'listen', 'dumpDataDir');

/** @param ended whether the application has closed the client */
function poolOver(clock: Clock, ask: Ask, ended: () => boolean): PgPool {
  return {
    async query(query) {
      const ms = query.query_timeout ?? 0;
      const asked = Promise.resolve(ask(query, (query.values ?? []) as never[]));
      const rows = await withLimit(asked, ms, () => new Error(`no answer within ${inMs(ms)}`), clock);
      return { rows: rows as PoolRow[] };
    },
    on: () => {},
    get ending() {
      return ended();
    },
  } as PgPool;
}

function overSql(sql: SqlFunction, clock: Clock): ReturnType<typeof poolOf> {
  const { adapter = 'postgres', transform } = sql.options;
  if (adapter !== 'postgres') throw invalid(`postgres() needs Bun.SQL with the adapter postgres, not ${adapter}`);
  const isRenamed = typeof transform?.column?.from === 'function';
  let ended = false;
  const ask: Ask = async ({ text, name }, values) => {
    try {
      const rows = (await sql.unsafe(text, values, { prepare: name !== undefined })) as PoolRow[];
      return isRenamed ? rows.map(withOurNames) : rows;
    } catch (error) {
      ended ||= (error as { code?: unknown }).code === 'CONNECTION_ENDED';
      const refused = withSqlState(error);
      // Unlike pg, these pools keep the connection, and only a new one may lead to the new primary.
      if (isReadOnly(refused)) await Promise.resolve(sql.unsafe(END_IF_READ_ONLY, [], {})).catch(() => {});
      throw refused;
    }
  };
  return {
    pool: poolOver(clock, ask, () => ended),
    listen:
      sql.listen && ((...how) => Promise.resolve(sql.listen!(...how)).then((listening) => () => listening.unlisten())),
  };
}

const END_IF_READ_ONLY =
  "SELECT pg_terminate_backend(pg_backend_pid()) WHERE current_setting('transaction_read_only') = 'on'";

/** Puts the SQLSTATE into `code`: Bun (1.4) has the SQLSTATE in `errno`, and a code of its own in `code`. */
function withSqlState(error: unknown): unknown {
  const { errno, message } = error as Error & { readonly errno?: unknown };
  return typeof errno === 'string' ? Object.assign(new Error(message, { cause: error }), { code: errno }) : error;
}

/** Undoes the client's `transform` of the names of columns, such as `serverTime`, `ServerTime` or `server-time`. */
const withOurNames = (row: PoolRow): PoolRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name
        .replace(/(?<=.)[A-Z]/g, '_$&')
        .replaceAll('-', '_')
        .toLowerCase(),
      value,
    ]),
  );

function overPglite(db: Pglite, clock: Clock): ReturnType<typeof poolOf> {
  const ask: Ask = async ({ text }, values) => (await db.query(text, values)).rows;
  return {
    pool: poolOver(clock, ask, () => db.closed),
    async listen(channel, onNotify, onListening) {
      const stop = await db.listen(`"${channel}"`, onNotify);
      onListening();
      return stop;
    },
  };
}
