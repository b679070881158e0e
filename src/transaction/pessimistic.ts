import { systemClock } from '../core/contract/clock.ts';
import { type Duration, milliseconds } from '../core/contract/duration.ts';
import { invalid } from '../core/contract/errors.ts';
import { checkGiven, namesOf, whole } from '../core/contract/options.ts';
import { type Dialect, type DialectName, dialectOf } from './dialect.ts';
import { checkQuery, codesOf, columnsOf, type Query, type Row, recordsOf, Text, translateError } from './query.ts';

interface Rows {
  readonly dialect: DialectName;
  /** `table` or `schema.table`. It is quoted, so PostgreSQL keeps upper and lower case. */
  readonly table: string;
  /** The columns to return. Default all. */
  readonly columns?: readonly string[];
}

/** The row to lock, and how long to wait. */
export interface LockRowOptions extends Rows {
  /** The row, by the columns of its key and their values. */
  readonly where: Row;
  /**
   * How long to wait in all while others have the row locked. 0: not at all. Default: the server's own limit.
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

const ROWS = { dialect: true, table: true, columns: true, where: true } as const;
const ROW = namesOf<LockRowOptions>({ ...ROWS, wait: true });
const FREE = namesOf<LockFreeOptions>({ ...ROWS, orderBy: true, limit: true });

/**
 * Locks a row until your transaction ends (`SELECT … FOR UPDATE`). There is no lease and no token: the database itself keeps others
 * out, and the end of a connection frees the row.
 * @returns the row; undefined if there is none
 * @throws LockError `LOCK_TIMEOUT`, `LOCK_DEADLOCK`, `LOCK_INVALID`. After an error of PostgreSQL the transaction can only be rolled
 * back; on MySQL and MariaDB this is so after `LOCK_DEADLOCK`.
 * @example
 * await inTransaction(async (query) => {
 *   const order = await lockRow(query, { dialect: 'postgres', table: 'orders', where: { id: 42 }, wait: '2s' });
 *   if (order?.driver === null) await query('UPDATE orders SET driver = $1 WHERE id = $2', [7, 42]);
 * });
 */
export async function lockRow(query: Query, options: LockRowOptions): Promise<Row | undefined> {
  checkQuery(query, 'lockRow');
  checkGiven(options, ROW, 'the options of lockRow'); // with a misspelt `wait` it would wait without a limit
  const { dialect: backend, where, wait } = options;
  const dialect = dialectOf(backend);
  if (columnsOf(where, 'where').length === 0) throw invalid('where names no column: it would lock the whole table');
  const limit = wait === undefined ? undefined : milliseconds(wait, 'wait');
  const text = new Text(dialect);
  const select = `${selectStatement(text, options)}${text.where(where)} FOR UPDATE`;
  try {
    const run = async (sql: string): Promise<Row[]> => recordsOf(await query(sql, text.params));
    const plain = limit === undefined || limit === 0;
    const rows = await (plain
      ? run(limit === 0 ? `${select} NOWAIT` : select)
      : withLockLimit(dialect, query, limit, select, run));
    return rows[0];
  } catch (error) {
    throw translateError(error, dialect, backend, `locking a row of ${options.table}`);
  }
}

/**
 * Locks the next rows that nobody has locked, and skips the others (`SKIP LOCKED`). So workers share a queue and do not wait for each
 * other.
 * @throws LockError `LOCK_DEADLOCK`, `LOCK_INVALID`
 * @example
 * await inTransaction(async (query) => {
 *   for (const job of await lockFree(query, { dialect: 'postgres', table: 'jobs', orderBy: ['id'], limit: 10 })) await work(job);
 * });
 */
export async function lockFree(query: Query, options: LockFreeOptions): Promise<Row[]> {
  checkQuery(query, 'lockFree');
  checkGiven(options, FREE, 'the options of lockFree');
  const { dialect: backend, where = {}, orderBy = [], limit = 1 } = options;
  const dialect = dialectOf(backend);
  whole(limit, 'limit', 1, 10_000);
  const text = new Text(dialect);
  const order = orderBy.length > 0 ? ` ORDER BY ${orderBy.map((name) => text.name(name)).join(', ')}` : '';
  const sql = `${selectStatement(text, options)}${text.where(where)}${order} LIMIT ${limit} FOR UPDATE SKIP LOCKED`;
  try {
    return recordsOf(await query(sql, text.params));
  } catch (error) {
    throw translateError(error, dialect, backend, `locking rows of ${options.table}`);
  }
}

function selectStatement(text: Text, { table, columns }: Rows): string {
  return `SELECT ${columns?.map((name) => text.name(name)).join(', ') ?? '*'} FROM ${text.name(table)}`;
}

/** query_canceled of PostgreSQL: the statement took too long, or somebody cancelled it. */
const CANCELLED = '57014';

/** Restores the server's own limit afterwards, if it had to be changed. */
async function withLockLimit(
  { limit: { select, setting } }: Dialect,
  query: Query,
  ms: number,
  statement: string,
  run: (statement: string) => Promise<Row[]>,
): Promise<Row[]> {
  const ask = (): Promise<Row[]> => run(select(statement, ms));
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
    // In a failed transaction of PostgreSQL this fails. Then the rollback restores the setting.
    await query(setting.restore(was), []).catch(() => {});
  }
}
