import { type Duration, invalid, milliseconds, namesOf, shown, systemClock, whole } from '../core/index.ts';
import { inTurn } from './clients.ts';
import {
  changedRows,
  checkCall,
  codesOf,
  columnsOf,
  type DialectName,
  type Query,
  type Row,
  recordsOf,
  Text,
  translated,
} from './query.ts';

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
   * How long to wait in all while others have the row locked, ms or a text. 0: no wait. Default: the server's own limit.
   */
  readonly wait?: Duration;
}

/** Which rows to look for, and how many. */
export interface LockFreeOptions extends Rows {
  /** The values that columns must have. Default: any row. */
  readonly where?: Row;
  /** The columns that decide which rows come first. */
  readonly orderBy?: readonly string[];
  /** The largest number of rows, 1 to 10,000. Default 1. */
  readonly limit?: number;
}

const TABLE = { dialect: true, table: true } as const;
const ROW = namesOf<LockRowOptions>({ ...TABLE, columns: true, where: true, wait: true });
const FREE = namesOf<LockFreeOptions>({ ...TABLE, columns: true, where: true, orderBy: true, limit: true });

/**
 * Locks a row until your transaction ends (`SELECT … FOR UPDATE`). There is no lease and no token: the database itself keeps others
 * out, and frees the row when the connection ends.
 * @returns the row; undefined if there is none
 * @throws LockError `LOCK_TIMEOUT`, `LOCK_DEADLOCK`, `LOCK_INVALID`. After an error of PostgreSQL the transaction can only be rolled
 * back; on MySQL and MariaDB only after `LOCK_DEADLOCK`.
 * @example
 * await inTransaction(async (query) => {
 *   const order = await lockRow(query, { dialect: 'postgres', table: 'orders', where: { id: 42 }, wait: '2s' });
 *   if (order?.driver === null) await query('UPDATE orders SET driver = $1 WHERE id = $2', [7, 42]);
 * });
 */
export async function lockRow(query: Query, options: LockRowOptions): Promise<Row | undefined> {
  const dialect = checkCall('lockRow', query, options, ROW); // if we ignored a misspelt `wait`, the wait would have no limit
  const { where, wait } = options;
  checkWhere(where, 'lock');
  const limit = wait === undefined ? undefined : milliseconds(wait, 'wait');
  const text = new Text(dialect);
  const select = `${selectStatement(text, options)}${text.where(where)} FOR UPDATE`;
  const run = async (sql: string): Promise<Row[]> => recordsOf(await query(sql, text.params));
  const lock = (): Promise<Row[]> => {
    if (!limit) return run(limit === 0 ? `${select} NOWAIT` : select);
    const { setting, select: limited } = LIMITS[dialect.name];
    // At once, two calls would mix their limits: the second would restore that of the first. A call without a limit takes no turn: it could keep
    // back another transaction for ever, if both have one `Query`.
    return inTurn(query, () => withSetting(setting, query, limit, () => run(limited(select, limit))));
  };
  return (await translated(dialect, `locking a row of ${options.table}`, lock))[0];
}

/**
 * Locks the next rows that nobody has locked, and skips the others (`SKIP LOCKED`). So workers share a table of jobs and do not wait for
 * each other.
 * @throws LockError `LOCK_DEADLOCK`, `LOCK_INVALID`
 * @example
 * await inTransaction(async (query) => {
 *   for (const job of await lockFree(query, { dialect: 'postgres', table: 'jobs', orderBy: ['id'], limit: 10 })) await work(job);
 * });
 */
export async function lockFree(query: Query, options: LockFreeOptions): Promise<Row[]> {
  const dialect = checkCall('lockFree', query, options, FREE);
  const { where = {}, orderBy = [], limit = 1 } = options;
  whole(limit, 'limit', 1, 10_000);
  const text = new Text(dialect);
  const order = orderBy.length > 0 ? ` ORDER BY ${text.names(orderBy)}` : '';
  const sql = `${selectStatement(text, options)}${text.where(where)}${order} LIMIT ${limit} FOR UPDATE SKIP LOCKED`;
  return translated(dialect, `locking rows of ${options.table}`, async () => recordsOf(await query(sql, text.params)));
}

const selectStatement = (text: Text, { table, columns }: Rows): string =>
  `SELECT ${columns ? text.names(columns) : '*'} FROM ${text.name(table)}`;

function checkWhere(where: Row, verb: string): void {
  if (columnsOf(where, 'where').length > 0) return;
  throw invalid(`where names no column: it would ${verb} the whole table`);
}

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));
/** The largest limits: in PostgreSQL and MySQL, ms; for a statement of MariaDB, s. */
const MAX_LIMIT_MS = 2 ** 31 - 1;
const MAX_STATEMENT_S = 31_536_000;
const bounded = (ms: number): number => Math.min(Math.max(1, Math.ceil(ms)), MAX_LIMIT_MS);

/**
 * Limits the wait for rows: in the statement, and perhaps by a setting that is restored afterwards. A limit for locks counts for each wait,
 * and a statement may wait for one transaction after another. So the whole statement has a limit, too.
 */
interface WaitLimit {
  readonly select: (select: string, ms: number) => string;
  readonly setting?: {
    readonly read: string;
    readonly set: (ms: number) => string;
    readonly restore: (was: string) => string;
  };
}

const LIMITS: Readonly<Record<DialectName, WaitLimit>> = {
  postgres: {
    select: (select) => select,
    // The setting is for this transaction only. After a time-out only a rollback is possible, and it restores the setting, too. If the
    // caller's `statement_timeout` is shorter, it stays.
    setting: {
      read: "SELECT current_setting('lock_timeout') || ' ' || current_setting('statement_timeout') AS was",
      set: (ms) =>
        `SELECT set_config(name, CASE WHEN name = 'statement_timeout' AND setting::bigint BETWEEN 1 AND ${bounded(ms)} THEN setting ELSE '${bounded(ms)}' END, true) FROM pg_settings WHERE name IN ('lock_timeout', 'statement_timeout')`,
      restore: (was) => {
        const [lock, statement] = was.split(' ');
        return `SELECT set_config('lock_timeout', '${lock}', true), set_config('statement_timeout', '${statement}', true)`;
      },
    },
  },
  mysql: {
    select: (select, ms) => select.replace(/^SELECT/, `SELECT /*+ MAX_EXECUTION_TIME(${bounded(ms)}) */`),
    setting: {
      read: 'SELECT @@SESSION.innodb_lock_wait_timeout AS was',
      set: (ms) => `SET SESSION innodb_lock_wait_timeout = ${seconds(ms)}`,
      restore: (was) => `SET SESSION innodb_lock_wait_timeout = ${was}`,
    },
  },
  mariadb: {
    select: (select, ms) =>
      `SET STATEMENT max_statement_time = ${Math.min(bounded(ms) / 1_000, MAX_STATEMENT_S)} FOR ${select} WAIT ${seconds(ms)}`,
  },
};

/** query_canceled of PostgreSQL: the statement took too long, or somebody cancelled it. */
const CANCELLED = '57014';

/** Asks with the setting of a limit, and then restores the setting. */
async function withSetting<T>(setting: WaitLimit['setting'], query: Query, ms: number, ask: () => Promise<T>) {
  if (!setting) return ask();
  const was = String(recordsOf(await query(setting.read, []))[0]?.was);
  await query(setting.set(ms), []);
  const start = systemClock.now();
  try {
    return await ask();
  } catch (error) {
    const over = systemClock.now() - start >= ms && codesOf(error).includes(CANCELLED);
    if (!over) throw error;
    throw Object.assign(new Error('the time for all waits is over', { cause: error }), { code: '55P03' });
  } finally {
    // In a failed transaction of PostgreSQL this statement fails. Then the rollback restores the setting.
    await query(setting.restore(was), []).catch(() => {});
  }
}

/** The result of `changeRow` if the row was changed after it was read. */
export const STALE: unique symbol = Symbol('stale');

/** The row to change, its version, and its new values. */
export interface ChangeOptions<V extends number | bigint> {
  /** Which SQL the database speaks. */
  readonly dialect: DialectName;
  /** `table` or `schema.table`. */
  readonly table: string;
  /** The row, by the columns of its key and their values. */
  readonly where: Row;
  /** The version of the row when it was read. */
  readonly version: V;
  /** The column of the version, which is a whole number. Default `version`. */
  readonly column?: string;
  /** New values. */
  readonly set: Row;
}

const CHANGE = namesOf<ChangeOptions<1>>({ ...TABLE, where: true, version: true, column: true, set: true });

/**
 * Changes a row and adds one to its version, if the row still has the version that was read. One statement does both.
 * @returns the new version; or `STALE` if the row is gone or has another version, and then nothing was changed
 * @throws LockError `LOCK_TIMEOUT`, `LOCK_DEADLOCK`, `LOCK_INVALID`
 * @example
 * const version = await changeRow(query, {
 *   dialect: 'postgres', table: 'orders', where: { id: 42 }, version: 3, set: { state: 'paid' },
 * });
 * if (version === STALE) console.log('somebody else changed it');
 */
export async function changeRow<V extends number | bigint>(
  query: Query,
  options: ChangeOptions<V>,
): Promise<V | typeof STALE> {
  const dialect = checkCall('changeRow', query, options, CHANGE);
  const { table, where, version, column = 'version', set } = options;
  const values = columnsOf(set, 'set');
  if (Object.hasOwn(set, column)) throw invalid(`set has ${shown(column)}: the version is counted up by itself`);
  checkWhere(where, 'change');
  // Only a number can be counted up: '1' + 1 is '11', and NULL stays NULL.
  if (typeof version !== 'bigint' && !Number.isSafeInteger(version))
    throw invalid(
      `version is ${shown(version)}; give a whole number: of a driver that gives text, BigInt(row.version)`,
    );
  const text = new Text(dialect);
  const changes = values.map(([name, value]) => `${text.name(name)} = ${text.value(value)}`);
  const counted = `${text.name(column)} = ${text.name(column)} + 1`;
  const sql = `UPDATE ${text.name(table)} SET ${[...changes, counted].join(', ')}${text.where({ ...where, [column]: version })}`;
  return translated(dialect, `changing a row of ${table}`, async () => {
    if (changedRows(await query(sql, text.params)) === 0) return STALE;
    return (typeof version === 'bigint' ? version + 1n : Number(version) + 1) as V;
  });
}
