import { systemClock } from '../core/clock.ts';
import { type Duration, milliseconds } from '../core/duration.ts';
import { invalid } from '../core/errors.ts';
import { checkGiven, whole } from '../core/options.ts';
import { type Dialect, type DialectName, dialectOf } from './dialect.ts';
import { checkQuery, codesOf, columnsOf, mapped, type Query, type Row, recordsOf, Text } from './query.ts';

interface Rows {
  readonly dialect: DialectName;
  /** `table` or `schema.table`; quoted, so PostgreSQL takes its letters as they are. */
  readonly table: string;
  /** Columns to give. Default all. */
  readonly columns?: readonly string[];
}

/** The row to lock, and how long to wait. */
export interface LockRowOptions extends Rows {
  /** The row: its key's columns and their values. */
  readonly where: Row;
  /**
   * How long to wait, in all, for others who have the row locked. 0: not at all. Default: as long as the server waits by itself.
   */
  readonly wait?: Duration;
}

/** Which rows to look for, and how many. */
export interface LockFreeOptions extends Rows {
  /** Columns and the values that they must have. Default: any row. */
  readonly where?: Row;
  /** Which come first. */
  readonly orderBy?: readonly string[];
  /** At most so many rows, 1 to 10,000. Default 1. */
  readonly limit?: number;
}

const ROWS = ['dialect', 'table', 'columns', 'where'] as const;
const ROW = new Set([...ROWS, 'wait'] satisfies (keyof LockRowOptions)[]);
const FREE = new Set([...ROWS, 'orderBy', 'limit'] satisfies (keyof LockFreeOptions)[]);

/**
 * Locks a row until the caller's transaction ends (`SELECT … FOR UPDATE`). There is no lease and no token: the database
 * itself keeps others out, and a connection that ends frees the row.
 * @returns the row; undefined if there is none
 * @throws LockError `LOCK_TIMEOUT`, `LOCK_DEADLOCK`, `LOCK_INVALID`. On PostgreSQL the transaction is then good for
 * nothing but a rollback; on MySQL and MariaDB so it is after `LOCK_DEADLOCK`.
 */
export async function lockRow(query: Query, options: LockRowOptions): Promise<Row | undefined> {
  checkQuery(query, 'lockRow');
  checkGiven(options, ROW, 'the options of lockRow'); // a misspelt wait would wait without a limit
  const { dialect: backend, where, wait } = options;
  const dialect = dialectOf(backend);
  if (columnsOf(where, 'where').length === 0) throw invalid('where names no column: it would lock the whole table');
  const limit = wait === undefined ? undefined : milliseconds(wait, 'wait');
  const text = new Text(dialect);
  const select = `${selected(text, options)}${text.where(where)} FOR UPDATE`;
  try {
    const run = async (limited: (statement: string) => string): Promise<Row[]> =>
      recordsOf(await query(limited(select), text.params));
    const rows =
      limit === undefined
        ? await run((statement) => statement)
        : limit === 0
          ? await run((statement) => `${statement} NOWAIT`)
          : await limited(dialect, query, limit, run);
    return rows[0];
  } catch (error) {
    throw mapped(error, dialect, backend, `locking a row of ${options.table}`);
  }
}

/**
 * Locks the next rows that nobody has locked, and passes over the others (`SKIP LOCKED`): how workers share a queue
 * without waiting for each other.
 * @throws LockError `LOCK_DEADLOCK`, `LOCK_INVALID`
 */
export async function lockFree(query: Query, options: LockFreeOptions): Promise<Row[]> {
  checkQuery(query, 'lockFree');
  checkGiven(options, FREE, 'the options of lockFree');
  const { dialect: backend, where = {}, orderBy = [], limit = 1 } = options;
  const dialect = dialectOf(backend);
  whole(limit, 'limit', 1, 10_000);
  const text = new Text(dialect);
  const order = orderBy.length > 0 ? ` ORDER BY ${orderBy.map((name) => text.name(name)).join(', ')}` : '';
  const sql = `${selected(text, options)}${text.where(where)}${order} LIMIT ${limit} FOR UPDATE SKIP LOCKED`;
  try {
    return recordsOf(await query(sql, text.params));
  } catch (error) {
    throw mapped(error, dialect, backend, `locking rows of ${options.table}`);
  }
}

function selected(text: Text, { table, columns }: Rows): string {
  return `SELECT ${columns?.map((name) => text.name(name)).join(', ') ?? '*'} FROM ${text.name(table)}`;
}

/** query_canceled of PostgreSQL: the statement's time is over, or somebody called it off. */
const CANCELLED = '57014';

/** With the server's own limit put back afterwards, where it had to be changed. */
async function limited(
  { limit: { select, setting } }: Dialect,
  query: Query,
  ms: number,
  run: (limit: (statement: string) => string) => Promise<Row[]>,
): Promise<Row[]> {
  const ask = (): Promise<Row[]> => run((statement) => select(statement, ms));
  if (!setting) return ask();
  const was = String(recordsOf(await query(setting.read, []))[0]?.was);
  await query(setting.set(ms), []);
  const start = systemClock.now();
  try {
    return await ask();
  } catch (error) {
    const over = systemClock.now() - start >= ms && codesOf(error).includes(CANCELLED);
    throw over
      ? Object.assign(new Error('the time for all waits is over', { cause: error }), { code: '55P03' })
      : error;
  } finally {
    // Fails in a transaction that PostgreSQL has given up; its rollback puts the setting back as well.
    await query(setting.restore(was), []).catch(() => {});
  }
}
