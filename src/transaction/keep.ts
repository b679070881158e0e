import { checkKey, invalid, LockError, namesOf, quoted } from '../core/index.ts';
import { fromText, RefusedValue, toText } from '../memo/encoding.ts';
import { decoded, encoded, unkeepable } from '../memo/entry.ts';
import { checkMatch, fingerprint } from '../memo/match.ts';
import { assertTransaction } from './clients.ts';
import {
  changedRows,
  checkCall,
  codesOf,
  type Dialect,
  type DialectName,
  type Query,
  type Row,
  recordsOf,
  Text,
  translated,
} from './query.ts';

/** Where a result is stored, and for what request. */
export interface KeepOptions<T = unknown> {
  /** Which SQL the database speaks. */
  readonly dialect: DialectName;
  /** `table` or `schema.table`, with the columns `key` (its primary key), `mark` and `value`. */
  readonly table: string;
  /** At most one result is stored under this key. */
  readonly key: string;
  /** What the request is, as data without `undefined`. Another request under the same key is refused with `LOCK_MISMATCH`. */
  readonly match?: unknown;
  /** Makes a text of the value. Default: as for a memo. */
  readonly encode?: (value: T) => string;
  /** Makes the value from the stored text, also for the caller that ran `fn`. Default: as for a memo. */
  readonly decode?: (text: string) => T;
}

const KEEP = namesOf<KeepOptions>({ dialect: true, table: true, key: true, match: true, encode: true, decode: true });

/** The result of `keepIn`. */
export interface KeepResult<T> {
  /** The value as it was stored, from this caller's function or another caller's. */
  readonly value: T;
  /** Whether this call ran its function. */
  readonly ran: boolean;
}

/**
 * Runs `fn` in your transaction and stores its value, unless the key has a result. The work and its result are in one commit: the database
 * gets both or neither. While another transaction has the key, your transaction waits for the end of the other.
 * @throws what `fn` throws: then roll back, or the part that `fn` did is committed without a result. LockError `LOCK_MISMATCH`,
 * `LOCK_TIMEOUT`, `LOCK_DEADLOCK`, `LOCK_INVALID`, also if `query` is not in a transaction
 * @example
 * const { value } = await inTransaction((query) =>
 *   keepIn(query, { dialect: 'postgres', table: 'results', key: 'order:42' }, async () => {
 *     await query('UPDATE stock SET left_over = left_over - 1 WHERE item = $1', ['lamp']);
 *     return { state: 'sold' };
 *   }),
 * );
 */
export async function keepIn<T>(
  query: Query,
  options: KeepOptions<T>,
  fn: () => Promise<T> | T,
): Promise<KeepResult<T>> {
  const dialect = checkCall('keepIn', query, options, KEEP);
  const { key, table, encode = toText, decode = fromText as (text: string) => T } = options;
  if (typeof fn !== 'function') throw invalid('keepIn() needs a function that does the work', key);
  const mark = fingerprint(options, checkKey(key));
  const row: Place = { query, dialect, table, key };
  await assertTransaction(query, dialect.name, 'keepIn', key); // without a transaction, the key would be committed before the work is done
  const stored = await takeRow(row, mark);
  if (stored) {
    checkMatch({ key, match: mark, backend: dialect.name }, String(stored.mark));
    if (stored.value === null) {
      const message = `${quoted(key)} has no result yet: it is asked for by the function that makes it, or the table was written to by another way`;
      throw new LockError('LOCK_DEADLOCK', message, { key, backend: dialect.name });
    }
    const text = dialect.keep.hex ? Buffer.from(String(stored.value), 'hex') : stored.value;
    return { value: decoded({ key, decode }, String(text)), ran: false };
  }
  try {
    const text = encoded({ encode }, await fn());
    const value = decoded({ key, decode }, text);
    await writeRow(row, text);
    return { value, ran: true };
  } catch (error) {
    await removeRow(row);
    throw error instanceof RefusedValue ? unkeepable(key, error) : error;
  }
}

/** Where the row of one key is. */
interface Place {
  readonly query: Query;
  readonly dialect: Dialect;
  readonly table: string;
  readonly key: string;
}

/** Makes the row for this transaction. @returns the row of an earlier caller, if there is one */
const takeRow = (place: Place, mark: string): Promise<Row | undefined> =>
  storing(place, async () => {
    const { query, dialect, table, key } = place;
    const values = new Text(dialect);
    const into = `${values.name(table)} (${values.names(['key', 'mark'])})`;
    const insert = `INSERT INTO ${into} VALUES (${values.value(bytesOf(dialect, key))}, ${values.value(mark)})`;
    if (await isInserted(place, insert, values.params)) return undefined;
    const text = new Text(dialect);
    const value = dialect.keep.hex ? 'HEX(`value`) AS `value`' : text.name('value');
    const found = `SELECT ${text.name('mark')}, ${value} FROM ${text.name(table)}${text.where({ key: bytesOf(dialect, key) })}`;
    const [row] = recordsOf(await query(found + dialect.keep.latest, text.params));
    if (row) return row;
    throw new LockError('LOCK_DEADLOCK', `${quoted(key)} was taken away while it was read: begin again`, { key });
  });

async function isInserted({ query, dialect }: Place, sql: string, params: never[]): Promise<boolean> {
  const { unlessThere } = dialect.keep;
  try {
    const result = await query(sql + unlessThere, params);
    return unlessThere === '' || recordsOf(result).length > 0;
  } catch (error) {
    if (unlessThere === '' && codesOf(error).includes('1062')) return false; // ER_DUP_ENTRY of MySQL and MariaDB
    throw error;
  }
}

async function writeRow(place: Place, value: string): Promise<void> {
  const { query, dialect, table, key } = place;
  const text = new Text(dialect);
  const set = `UPDATE ${text.name(table)} SET ${text.name('value')} = ${text.value(bytesOf(dialect, value))}`;
  const sql = set + text.where({ key: bytesOf(dialect, key), value: null });
  const changed = await storing(place, async () => changedRows(await query(sql, text.params)));
  if (changed > 0) return;
  const message = `the transaction ended before the result of ${quoted(key)} was stored: roll back and begin again`;
  throw new LockError('LOCK_DEADLOCK', message, { key });
}

/**
 * Removes the row: a commit in spite of the error must leave no key without a result. In a failed transaction, only the rollback removes the
 * row. A deadlock on MySQL ends the transaction, and then the key may have the result of another one: that stays.
 */
async function removeRow({ query, dialect, table, key }: Place): Promise<void> {
  const text = new Text(dialect);
  const sql = `DELETE FROM ${text.name(table)}${text.where({ key: bytesOf(dialect, key), value: null })}`;
  await query(sql, text.params).catch(() => {});
}

const bytesOf = ({ keep }: Dialect, text: string) => (keep.hex ? Buffer.from(text) : text);

const storing = <R>({ dialect, table }: Place, act: () => Promise<R>): Promise<R> =>
  translated(dialect, `keeping a result in ${table}`, act);
