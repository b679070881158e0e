import type { DatabaseSync } from 'node:sqlite';
import { checkOptions } from '../input.ts';
import type { StockStore } from '../store.ts';
import { type Conversation, DIALECTS, type Row, Statements, storeOn } from './statements.ts';

/** A store in a SQLite file. */
export interface SqliteStock extends StockStore, Disposable {
  /**
   * Closes the file.
   * @example using store = sqliteStock({ path: ':memory:' }); // its end does the same as store.close()
   */
  close(): void;
}

/** How long to wait for the other processes that write the file. ms. */
const PATIENCE = 10_000;

/**
 * In a file of SQLite, which needs no installation. Any number of processes of one machine may use it. `:memory:` keeps it in this process.
 * @example const stock = createStock(sqliteStock({ path: '/var/lib/shop/stock.db' }));
 */
export function sqliteStock(options: { readonly path: string }): SqliteStock {
  checkOptions(options, ['path'], 'sqliteStock');
  // Not imported above: Node 22 would warn of it at once, also where only Redis is used.
  const database = new (process.getBuiltinModule('node:sqlite').DatabaseSync)(options.path);
  const statements = new Statements(DIALECTS.sqlite, 'holdfast_stock');
  database.exec(`PRAGMA busy_timeout = ${PATIENCE}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL`);
  for (const sql of statements.setup()) database.exec(sql.replace('CREATE INDEX', 'CREATE INDEX IF NOT EXISTS'));
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();

  function ask(sql: string, params: readonly (string | number)[]): Row[] {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement.all(...params) as Row[];
  }

  /** Without an await from begin to commit, so no other call of this process comes in between. */
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
