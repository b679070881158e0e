import { type Clock, inMs, invalid, withLimit } from '../../core/index.ts';
import { checkPool, type PgPool, type PgQuery, type PoolRow } from './pool.ts';

/** What holdfast uses of the `sql` of `postgres` (postgres.js 3), or of `SQL` of Bun, which is like it. */
export interface SqlFunction {
  unsafe(text: string, values: never[], options: object): PromiseLike<unknown>;
  /** An older Bun has none: waiters poll. */
  listen?(
    channel: string,
    heard: (payload: string) => void,
    listening: () => void,
  ): PromiseLike<{ unlisten(): unknown }>;
  reserve(): unknown;
  readonly options: {
    /** Bun's, which also speaks to MySQL and SQLite. */
    readonly adapter?: string;
    readonly transform?: { readonly column?: { readonly from?: unknown } };
  };
}

/** What holdfast uses of `PGlite` (`@electric-sql/pglite`). It is in this process, and locks this process only. */
export interface Pglite {
  query(text: string, values?: never[]): Promise<{ rows: unknown[] }>;
  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>>;
  readonly waitReady: Promise<void>;
  readonly closed: boolean;
}

/** A pool of `pg`, or another client of PostgreSQL that you have: `postgres` (postgres.js), PGlite or `Bun.SQL`. */
export type PostgresClient = PgPool | SqlFunction | Pglite;

/**
 * Listens on a channel. The client mends that by itself, and calls `listening` each time that it listens.
 * @returns how to stop
 */
export type Listen = (
  channel: string,
  heard: (payload: string) => void,
  listening: () => void,
) => Promise<() => unknown>;

type Ask = (query: PgQuery, values: never[]) => PromiseLike<unknown>;

/**
 * The client as a pool of `pg`, and its own way to listen; that of a pool of `pg` is a connection more.
 * @throws LockError `LOCK_INVALID` when it is none of them
 */
export function poolOf(client: PostgresClient, clock: Clock): { pool: PgPool; listen?: Listen | undefined } {
  if (isSql(client)) return overSql(client, clock);
  if (isPglite(client)) return overPglite(client, clock);
  return { pool: checkPool(client as PgPool) };
}

/** @throws LockError `LOCK_INVALID` when no session of it can be had, or it is no pool */
export function checkSessions(client: unknown): void {
  const name = isSql(client) ? (client.options.adapter ? 'Bun.SQL' : 'postgres.js') : isPglite(client) && 'PGlite';
  if (!name) return;
  throw invalid(
    `postgresAdvisory() needs sessions that tell when they end, and ${name} has none; use postgres(), or a pool of pg beside it`,
  );
}

const can = (client: unknown, ...calls: string[]): boolean =>
  calls.every((call) => typeof (client as Record<string, unknown> | undefined)?.[call] === 'function');

/** Neither one that is reserved nor one of a transaction: those have no options, and what we send must commit by itself. */
const isSql = (client: unknown): client is SqlFunction =>
  typeof client === 'function' && can(client, 'unsafe', 'reserve') && 'options' in client;
const isPglite = (client: unknown): client is Pglite => can(client, 'query', 'exec', 'listen', 'dumpDataDir');

/** @param ended whether its owner has closed it */
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
      throw withSqlState(error);
    }
  };
  return {
    pool: poolOver(clock, ask, () => ended),
    listen: sql.listen && ((...how) => Promise.resolve(sql.listen!(...how)).then((heard) => () => heard.unlisten())),
  };
}

/** Bun (1.4) has the server's code in `errno`, and one of its own in `code`. */
function withSqlState(error: unknown): unknown {
  const { errno, message } = error as Error & { readonly errno?: unknown };
  return typeof errno === 'string' ? Object.assign(new Error(message, { cause: error }), { code: errno }) : error;
}

/** `transform` may write the names of columns otherwise: `serverTime`, `ServerTime` or `server-time`. */
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
    async listen(channel, heard, listening) {
      const stop = await db.listen(`"${channel}"`, heard);
      listening();
      return stop;
    },
  };
}
