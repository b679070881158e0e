import type { DatabaseSync } from 'node:sqlite';
import {
  type DialectName,
  dialectOf,
  type Query,
  recordsOf,
  Text,
  waitUntilMade,
} from '../../../src/transaction/query.ts';
import { retryStale } from '../../../src/transaction/retry.ts';
import { checkOptions } from '../input.ts';
import type { StockStore } from '../store.ts';
import { type Conversation, DIALECTS, type Row, Statements, storeOn } from './statements.ts';

/** Options of `sqlStock`. */
export interface SqlStockOptions {
  /** Which SQL the database speaks. */
  readonly dialect: DialectName;
  /**
   * Runs `work` inside one transaction on one connection, commits when it resolves and rolls back when it rejects. `query`
   * returns the driver's result: that of pg, or mysql2's pair, with rows as objects. Before `work`, read nothing in the
   * transaction and take no snapshot: on MySQL and MariaDB `work` would see requests as they were then.
   */
  readonly transaction: <T>(work: (query: Query) => Promise<T>) => Promise<T>;
  /** The names of the three tables begin with this text; default `holdfast_stock`. */
  readonly tables?: string;
}

/** A store in tables of a SQL database. */
export interface SqlStock extends StockStore {
  /**
   * Makes the tables if they are not there.
   * @example await sqlStock({ dialect: 'postgres', transaction: inTransaction }).setup(); // in a migration
   */
  setup(): Promise<void>;
}

/** How often to try a transaction that the database rolled back for another one. Above READ COMMITTED, many buyers at once cause this often. */
const MAX_ATTEMPTS = 20;
/** The pause between two tries. */
const PAUSE_MS = 5;

/**
 * A store in PostgreSQL, MySQL 8 or MariaDB. Each step is one transaction, which locks the row of its segment.
 * @throws LockError `LOCK_INVALID`, StockError `STOCK_INVALID`
 * @example const stock = createStock(sqlStock({ dialect: 'postgres', transaction: inTransaction }));
 */
export function sqlStock(options: SqlStockOptions): SqlStock {
  checkOptions(options, ['dialect', 'transaction', 'tables'], 'sqlStock');
  const { dialect, transaction, tables = 'holdfast_stock' } = options;
  new Text(dialectOf(dialect)).name(`${tables}_requests`); // the longest of the names
  const statements = new Statements(DIALECTS[dialect], tables);

  const within = <T>(begin: () => Conversation<T>): Promise<T> =>
    retryStale(
      () =>
        transaction(async (query) => {
          const conversation = begin();
          let said = conversation.next();
          while (!said.done) {
            const [sql, params] = said.value;
            const result = await query(sql, params as never[]);
            said = conversation.next(sql.startsWith('SELECT') ? recordsOf(result) : []);
          }
          return said.value;
        }),
      { attempts: MAX_ATTEMPTS, pause: PAUSE_MS },
    );

  return {
    ...storeOn(dialect, statements, within),
    async setup() {
      for (const sql of statements.setup()) {
        // Each has its own transaction: on PostgreSQL, no statement runs in a transaction after a failed one.
        await waitUntilMade(transaction((query) => query(sql, [])));
      }
    },
  };
}

/** A store in a SQLite file. */
export interface SqliteStock extends StockStore, Disposable {
  /**
   * Closes the file.
   * @example using store = sqliteStock({ path: ':memory:' }); // the end of the block calls store.close()
   */
  close(): void;
}

/** How long to wait while other processes write the file. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * A store in a SQLite file, without any installation. All processes of one machine may use the file. `:memory:` keeps it in this process.
 * @example const stock = createStock(sqliteStock({ path: '/var/lib/shop/stock.db' }));
 */
export function sqliteStock(options: { readonly path: string }): SqliteStock {
  checkOptions(options, ['path'], 'sqliteStock');
  // Not imported above: Node 22 would warn at once, even if only Redis is used.
  const database = new (process.getBuiltinModule('node:sqlite').DatabaseSync)(options.path);
  const statements = new Statements(DIALECTS.sqlite, 'holdfast_stock');
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`);
  for (const sql of statements.setup()) database.exec(sql.replace('CREATE INDEX', 'CREATE INDEX IF NOT EXISTS'));
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();

  function ask(sql: string, params: readonly (string | number)[]): Row[] {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement.all(...params) as Row[];
  }

  /** There is no await between BEGIN and COMMIT, so no other call of this process comes in between. */
  async function transaction<T>(begin: () => Conversation<T>): Promise<T> {
    database.exec('BEGIN IMMEDIATE');
    try {
      const conversation = begin();
      let said = conversation.next();
      while (!said.done) said = conversation.next(ask(...said.value));
      database.exec('COMMIT');
      return said.value;
    } catch (error) {
      try {
        database.exec('ROLLBACK');
      } catch {} // after some errors, such as a full disk, SQLite has rolled back itself
      throw error;
    }
  }

  let open = true;
  const close = (): void => {
    if (open) database.close();
    open = false;
  };
  return {
    ...storeOn('sqlite', statements, transaction),
    close,
    [Symbol.dispose]: close,
  };
}
