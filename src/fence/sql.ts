import { checkKey, checkNames, invalid, LockError, namesOf, shown } from '../core/index.ts';
import { assertTransaction, queryOf, type Transaction } from '../transaction/clients.ts';
import {
  type DialectName,
  dialectOf,
  type Query,
  recordsOf,
  rowsOf,
  Text,
  waitUntilMade,
} from '../transaction/query.ts';
import { checkToken, type Fence, fencedError } from './fence.ts';

/** Parts of a PostgreSQL statement. `returning` gives its transaction. `durable`, in WHERE, makes the commit wait for the disk in any case. */
const OWN_TRANSACTION = {
  returning: 'txid_current()::text AS transaction',
  durable: `set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true) IS NOT NULL`,
} as const;

/** @throws LockError `LOCK_UNAVAILABLE` if the transaction that changed these rows is not committed */
async function checkCommitted(result: unknown, query: Query, what: string): Promise<void> {
  const [row] = recordsOf(result);
  const found = await query('SELECT txid_status($1::bigint) AS status', [row!.transaction] as never[]);
  const status = recordsOf(found)[0]?.status;
  if (status !== 'committed') throw revocable('postgres', what, `${status ?? 'not known'}`);
}

/** Flags in the answers of MySQL: SERVER_STATUS_IN_TRANS, SERVER_STATUS_AUTOCOMMIT. */
const [IN_TRANSACTION, AUTOCOMMIT] = [1, 2];

/**
 * Checks the flags of the answer, if the driver gives them (mysql2).
 * @throws LockError `LOCK_UNAVAILABLE` if the statement with this answer is not committed
 */
function checkClosed(result: unknown, backend: DialectName, what: string): void {
  const header = Array.isArray(result) ? result[0] : result;
  const { serverStatus = AUTOCOMMIT } = (header ?? {}) as { readonly serverStatus?: number };
  if (serverStatus & IN_TRANSACTION || !(serverStatus & AUTOCOMMIT)) throw revocable(backend, what, 'in progress');
}

const revocable = (backend: DialectName, what: string, status: string): LockError =>
  new LockError(
    'LOCK_UNAVAILABLE',
    `${what} ran inside a transaction that is ${status}, and could still be rolled back: somebody left it open on a connection of the pool; end every transaction before its client goes back. In a transaction of your own, give claim() its own query`,
    { backend },
  );

/** Options of `sqlFence`. */
export interface SqlFenceOptions {
  /** Default `postgres`. */
  readonly dialect?: DialectName;
  /** The table of the marks. Default `holdfast_fences`. `setup` makes the table. */
  readonly table?: string;
}

/** A guard for something kept in a SQL database. */
export interface SqlFence extends Fence {
  /**
   * If you give the `query` of your transaction, the row of the mark stays locked until the commit, so no newer holder can claim before that.
   * Outside of a transaction, a claim guards a read, not a write. A mark counts only when it is committed. So without `query`, a claim
   * that runs inside a transaction is refused (on MySQL and MariaDB, if the driver is mysql2).
   * @throws LockError `LOCK_FENCED`, `LOCK_UNAVAILABLE`
   * @example
   * await inTransaction(async (query) => {
   *   await sqlFence(query, 'orders').claim(lease.token, query); // before the first read
   *   await query('UPDATE orders SET driver = $1 WHERE id = $2', [7, 42]);
   * });
   */
  claim(token: bigint, query?: Query): Promise<void>;
  /**
   * Makes the table if it is missing.
   * @example await sqlFence(query, 'orders').setup(); // once, in a migration
   */
  setup(): Promise<void>;
}

const KNOWN = namesOf<SqlFenceOptions>({ dialect: true, table: true });

/**
 * A guard for something kept in PostgreSQL, MySQL or MariaDB. The marks have a table of their own.
 * @param query runs one statement and returns what the driver returns: pg's result, mysql2's pair, or the rows of postgres.js
 * @throws LockError `LOCK_INVALID`
 * @example
 * const fence = sqlFence(query, 'orders', { dialect: 'postgres' });
 * await fence.claim(lease.token);
 */
export function sqlFence(query: Query, resource: string, options: SqlFenceOptions = {}): SqlFence {
  checkNames(options, KNOWN, 'options of sqlFence()'); // if we ignored a misspelt `table`, a guard would not see the marks of others
  const { dialect: name = 'postgres', table = 'holdfast_fences' } = options;
  const dialect = dialectOf(name);
  const quoted = new Text(dialect).name(table);
  const [first, second] = [dialect.mark(1), dialect.mark(2)];
  if (checkKey(resource).includes('\0')) throw invalid('the resource of a SQL fence must not contain NUL', resource);

  async function raise(token: bigint, own?: Query): Promise<boolean> {
    const run = own ?? query;
    const newest = String(checkToken(token));
    if (name === 'postgres') {
      const values = `SELECT ${first}::text, ${second}::numeric${own ? '' : ` WHERE ${OWN_TRANSACTION.durable}`}`;
      const update = `DO UPDATE SET newest = EXCLUDED.newest WHERE ${quoted}.newest <= EXCLUDED.newest`;
      const returning = own ? '1 AS raised' : OWN_TRANSACTION.returning; // a row, since some libraries hide the number of changed rows
      const insert = `INSERT INTO ${quoted} (resource, newest) ${values} ON CONFLICT (resource) ${update} RETURNING ${returning}`;
      const result = await run(insert, [resource, newest] as never[]);
      const raised = rowsOf(result).length > 0;
      if (raised && !own) await checkCommitted(result, run, `the claim of ${quoted}`);
      return raised;
    }
    // In hex, the resource has the same bytes, and so the same row, under every character set of the connection.
    const values = [Buffer.from(resource).toString('hex'), newest] as never[];
    const insert = `INSERT INTO ${quoted} (resource, newest) VALUES (UNHEX(${first}), ${second})`;
    const said = await run(`${insert} ON DUPLICATE KEY UPDATE newest = GREATEST(newest, VALUES(newest))`, values);
    if (!own) checkClosed(said, name, `the claim of ${quoted}`);
    // A flag of the connection decides which rows MySQL counts as changed. So we read the row, and only ask whether there is one. FOR UPDATE: a
    // plain read shows the row as it was at the transaction's first read, and so hides a newer mark, which the INSERT did not change
    // (https://dev.mysql.com/doc/refman/8.4/en/innodb-consistent-read.html).
    const mine = `SELECT newest FROM ${quoted} WHERE resource = UNHEX(${first}) AND newest = CAST(${second} AS UNSIGNED) FOR UPDATE`;
    return rowsOf(await run(mine, values)).length > 0;
  }

  return {
    async claim(token, own) {
      if (!(await raise(token, own))) throw fencedError(resource, token);
    },
    async setup() {
      const [text, number] = name === 'postgres' ? ['text', 'numeric(20)'] : ['varbinary(512)', 'bigint unsigned'];
      const columns = `resource ${text} PRIMARY KEY, newest ${number} NOT NULL`;
      await waitUntilMade(query(`CREATE TABLE IF NOT EXISTS ${quoted} (${columns})`, []));
    },
  };
}

/**
 * Claims the token of a lease, and then works, in one transaction. The mark of the resource stays locked until the commit, so a newer holder
 * waits until then, and an older holder is refused before it has read anything. If `fenced` throws, roll the transaction back.
 * @param transaction what your library calls connection, tx, trx or manager: of pg, mysql2, postgres.js, Prisma, Drizzle, Knex, Kysely or
 * TypeORM; or a function that runs one statement in it, as for `claim`
 * @param lease of an exclusive lock: its token is claimed
 * @param work reads and writes in that transaction; its result is returned
 * @param options `dialect`: default `postgres`; `table`: where the marks are, which `sqlFence(…).setup()` makes
 * @throws what `work` throws; LockError `LOCK_FENCED`; `LOCK_INVALID`, also outside of a transaction
 * @example
 * await locks.mutex('order:42').run((lease) =>
 *   inTransaction((query) =>
 *     fenced(query, lease, 'order:42', () => query('UPDATE orders SET driver = $1 WHERE id = $2', [7, 42])),
 *   ),
 * );
 */
export async function fenced<T>(
  transaction: Transaction,
  lease: { readonly token: bigint },
  resource: string,
  work: () => Promise<T> | T,
  options: SqlFenceOptions = {},
): Promise<T> {
  const query = queryOf(transaction);
  const fence = sqlFence(query, resource, options);
  if (typeof work !== 'function')
    throw invalid(`fenced() needs a function that does the work, not ${shown(work)}`, resource);
  const token = checkToken(lease?.token);
  await assertTransaction(query, options.dialect ?? 'postgres', 'fenced', resource); // without a transaction, the row of the mark would be unlocked before the work
  await fence.claim(token, query);
  return work();
}

/** Parts of a statement for rows with a fence column, so that one statement checks the token and writes. */
export interface FenceFragments {
  /** For SET: `"fence" = $2`. */
  readonly set: string;
  /** For WHERE: `"fence" <= $3`. If no row was changed, the token was refused, or there is no such row. */
  readonly where: string;
  /** Two parameters of the statement, in this order: one for `set` and one for `where`. */
  readonly params: readonly string[];
  /** The number of the next free placeholder: `first` + 2. */
  readonly next: number;
}

const OF_COLUMN = namesOf<NonNullable<Parameters<typeof fenceColumn>[1]>>({ column: true, dialect: true, first: true });

/**
 * The check of a fence as parts of your own statement, for rows with a fence column. It takes two placeholders, `first` and the one after it;
 * `next` is the number of the placeholder after these.
 * @param options `column`: default `fence`; `dialect`: default `postgres`; `first`: the number of the first free placeholder, from 1
 * @throws LockError `LOCK_INVALID`
 * @example
 * const { set, where, params } = fenceColumn(lease.token, { first: 3 });
 * await query(`UPDATE orders SET driver = $1, ${set} WHERE id = $2 AND ${where}`, [7, 42, ...params]);
 */
export function fenceColumn(
  token: bigint,
  options: { column?: string; dialect?: DialectName; first?: number } = {},
): FenceFragments {
  checkNames(options, OF_COLUMN, 'options of fenceColumn()');
  const { column = 'fence', dialect = 'postgres', first = 1 } = options;
  const { mark } = dialectOf(dialect);
  const name = new Text(dialectOf(dialect)).name(column);
  const value = String(checkToken(token));
  const [set, where] = [`${name} = ${mark(first)}`, `${name} <= ${mark(first + 1)}`];
  return { set, where, params: [value, value], next: first + 2 };
}
