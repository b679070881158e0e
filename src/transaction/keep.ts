import { checkKey, invalid, LockError, namesOf, quoted } from '../core/index.ts';
import { fromText, type RefusedValue, toText } from '../memo/encoding.ts';
import { decoded, encoded, unkeepable } from '../memo/entry.ts';
import { checkMatch, fingerprint } from '../memo/match.ts';
import {
  assertTransaction,
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
  /** Makes a text of the value. Default: as a memo does. */
  readonly encode?: (value: T) => string;
  /** Makes the value of such a text, also for the caller that ran `fn`. Default: as a memo does. */
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
 * Runs `fn` in your transaction and stores its value, unless a result of the key is there. The work and its result are in one commit: both are
 * there, or neither. While another transaction has the key, your transaction waits until the other one has ended.
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
  const row = new ResultRow(query, dialect, table, key);
  await assertTransaction(query, 'keepIn', key); // without a transaction, the key would be committed before the work is done
  const stored = await row.take(mark);
  if (stored) {
    checkMatch({ key, match: mark, backend: dialect.name }, String(stored.mark));
    if (stored.value === null) throw unfinished(key, dialect.name);
    return { value: decoded({ key, decode }, String(stored.value)), ran: false };
  }
  try {
    const text = textOf(key, encode, await fn());
    const value = decoded({ key, decode }, text);
    await row.write(text);
    return { value, ran: true };
  } catch (error) {
    await row.giveUp();
    throw error;
  }
}

/** The row of one key. */
class ResultRow {
  readonly #query: Query;
  readonly #dialect: Dialect;
  readonly #table: string;
  readonly #key: string;

  constructor(query: Query, dialect: Dialect, table: string, key: string) {
    this.#query = query;
    this.#dialect = dialect;
    this.#table = table;
    this.#key = key;
  }

  /** Makes the row for this transaction. @returns the row of an earlier caller, if there is one */
  async take(mark: string): Promise<Row | undefined> {
    const key = this.#key;
    return this.#translated(async () => {
      const values = new Text(this.#dialect);
      const into = `${values.name(this.#table)} (${values.names(['key', 'mark'])})`;
      const insert = `INSERT INTO ${into} VALUES (${values.value(key)}, ${values.value(mark)})`;
      if (await this.#isInserted(insert, values.params)) return undefined;
      const text = new Text(this.#dialect);
      const found = `SELECT ${text.names(['mark', 'value'])} FROM ${text.name(this.#table)}${text.where({ key })}`;
      const [row] = recordsOf(await this.#query(found + this.#dialect.keep.latest, text.params));
      if (row) return row;
      throw new LockError('LOCK_DEADLOCK', `${quoted(key)} was taken away while it was read: begin again`, { key });
    });
  }

  async #isInserted(sql: string, params: never[]): Promise<boolean> {
    const { unlessThere } = this.#dialect.keep;
    try {
      const result = await this.#query(sql + unlessThere, params);
      return unlessThere === '' || recordsOf(result).length > 0;
    } catch (error) {
      if (unlessThere === '' && codesOf(error).includes(DUPLICATE)) return false;
      throw error;
    }
  }

  async write(value: string): Promise<void> {
    const text = new Text(this.#dialect);
    const set = `UPDATE ${text.name(this.#table)} SET ${text.name('value')} = ${text.value(value)}`;
    const sql = set + text.where({ key: this.#key });
    await this.#translated(() => this.#query(sql, text.params));
  }

  /** Removes the row: a caller may commit in spite of an error, and no key may stay without a result. In a failed transaction this fails, too. */
  async giveUp(): Promise<void> {
    const text = new Text(this.#dialect);
    const sql = `DELETE FROM ${text.name(this.#table)}${text.where({ key: this.#key })}`;
    await this.#query(sql, text.params).catch(() => {});
  }

  #translated<R>(act: () => Promise<R>): Promise<R> {
    return translated(this.#dialect, `keeping a result in ${this.#table}`, act);
  }
}

/** @throws LockError `LOCK_INVALID` for a value that cannot be stored */
function textOf<T>(key: string, encode: (value: T) => string, value: T): string {
  try {
    return encoded({ encode }, value);
  } catch (refused) {
    throw unkeepable(key, refused as RefusedValue);
  }
}

/** ER_DUP_ENTRY of MySQL and MariaDB. */
const DUPLICATE = '1062';

const unfinished = (key: string, backend: string): LockError =>
  new LockError(
    'LOCK_DEADLOCK',
    `${quoted(key)} has no result yet: it is asked for by the function that makes it, or the table was written to by another way`,
    { key, backend },
  );
