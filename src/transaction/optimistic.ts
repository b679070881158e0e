import { type Clock, systemClock } from '../core/contract/clock.ts';
import { milliseconds } from '../core/contract/duration.ts';
import { counted, invalid, isLockError, LockError, shown } from '../core/contract/errors.ts';
import { checkGiven, checkNames, namesOf, whole } from '../core/contract/options.ts';
import { sleep } from '../core/contract/promises.ts';
import { type DialectName, dialectOf } from './dialect.ts';
import { changedRows, checkQuery, codesOf, columnsOf, type Query, type Row, Text, translateError } from './query.ts';

/** The row was changed after it was read. */
export const STALE: unique symbol = Symbol('stale');

/** The row to change, its version, and its new values. */
export interface ChangeOptions<V extends number | bigint> {
  /** Which SQL the database speaks. */
  readonly dialect: DialectName;
  /** `table` or `schema.table`. */
  readonly table: string;
  /** The row, by the columns of its key and their values. */
  readonly where: Row;
  /** The version it had when it was read. */
  readonly version: V;
  /** The column of the version, which is a whole number. Default `version`. */
  readonly column?: string;
  /** New values. */
  readonly set: Row;
}

const CHANGE = namesOf<ChangeOptions<1>>({
  dialect: true,
  table: true,
  where: true,
  version: true,
  column: true,
  set: true,
});

/**
 * Changes a row and adds one to its version, if it still has the version that was read. It is one statement.
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
  checkQuery(query, 'changeRow');
  checkGiven(options, CHANGE, 'the options of changeRow');
  const { dialect: backend, table, where, version, column = 'version', set } = options;
  const dialect = dialectOf(backend);
  const values = columnsOf(set, 'set');
  if (Object.hasOwn(set, column)) throw invalid(`set has ${shown(column)}: the version is counted up by itself`);
  if (columnsOf(where, 'where').length === 0) throw invalid('where names no column: it would change the whole table');
  // Only a number can be counted up: '1' + 1 is '11', and NULL stays NULL.
  if (typeof version !== 'bigint' && !Number.isSafeInteger(version)) {
    throw invalid(
      `version is ${shown(version)}; give a whole number: of a driver that gives text, BigInt(row.version)`,
    );
  }
  const text = new Text(dialect);
  const changes = values.map(([name, value]) => `${text.name(name)} = ${text.value(value)}`);
  const counted = `${text.name(column)} = ${text.name(column)} + 1`;
  const sql = `UPDATE ${text.name(table)} SET ${[...changes, counted].join(', ')}${text.where({ ...where, [column]: version })}`;
  try {
    const changed = changedRows(await query(sql, text.params));
    return changed === 0 ? STALE : (next(version) as V);
  } catch (error) {
    throw translateError(error, dialect, backend, `changing a row of ${table}`);
  }
}

const next = (version: number | bigint): number | bigint => (typeof version === 'bigint' ? version + 1n : version + 1);

/** The longest pause, ms. */
const LONGEST_PAUSE = 1_000;

/** How often and when to try again. */
export interface RetryOptions {
  /** Tries in all, 1 to 100. Default 5. */
  readonly attempts?: number;
  /** The longest first pause, ms. It doubles with each try, up to a second. Each pause is random below it. Default 20. */
  readonly pause?: number;
  /** Ends the tries, also in a pause. */
  readonly signal?: AbortSignal;
  /** Time and randomness. Default: the machine's. */
  readonly clock?: Clock;
}

const RETRY = namesOf<RetryOptions>({ attempts: true, pause: true, signal: true, clock: true });

/**
 * Runs `fn` again while it returns `STALE`, or while its transaction fails because others came first (a deadlock, a serialization
 * failure). Each time `fn` begins and ends a transaction of its own, and reads again in it.
 * @throws LockError `LOCK_TIMEOUT` when it was stale every time, `LOCK_ABORTED`, and any other error of `fn`
 * @example
 * const paid = { dialect: 'postgres', table: 'orders', where: { id: 42 }, set: { state: 'paid' } } as const;
 * await retryStale(() =>
 *   inTransaction(async (query) => {
 *     const { rows } = await query('SELECT version FROM orders WHERE id = 42', []);
 *     return changeRow(query, { ...paid, version: rows[0].version });
 *   }),
 * );
 */
export async function retryStale<T>(
  fn: (attempt: number) => Promise<T | typeof STALE>,
  options: RetryOptions = {},
): Promise<T> {
  if (typeof fn !== 'function') throw invalid(`retryStale() needs a function, not ${shown(fn)}`);
  checkNames(options, RETRY, 'the options of retryStale');
  const { attempts = 5, pause = 20, signal, clock = systemClock } = options;
  whole(attempts, 'attempts', 1, 100);
  milliseconds(pause, 'pause');
  let cause: unknown;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (signal?.aborted) throw new LockError('LOCK_ABORTED', 'the signal ended the tries', { cause: signal.reason });
    try {
      const result = await fn(attempt);
      if (result !== STALE) return result;
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      cause = error;
    }
    const longest = Math.min(pause * 2 ** (attempt - 1), Math.max(pause, LONGEST_PAUSE));
    if (attempt < attempts && !signal?.aborted) await sleep(clock, clock.random() * longest, signal);
  }
  throw new LockError(
    'LOCK_TIMEOUT',
    `the row changed ${counted(attempts, 'time')} before it could be written: try again later`,
    {
      cause,
    },
  );
}

/** PostgreSQL's serialization failure and deadlock, MySQL's deadlock, MariaDB's ER_CHECKREAD. */
const OVERTAKEN = ['40001', '40P01', '1213', '1020'];

const isOvertaken = (error: unknown): boolean =>
  isLockError(error, 'LOCK_DEADLOCK') || codesOf(error).some((code) => OVERTAKEN.includes(code));
