import type { DatabaseSync } from 'node:sqlite';
import { checkOptions } from '../input.ts';
import type { StockStore } from '../store.ts';
import { type Conversation, DIALECTS, type Row, Statements } from './statements.ts';

/** A store in a SQLite file, which it closes at its end. */
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
 * In a file (SQLite, nothing to install): any number of processes on one machine. `:memory:` keeps it in this process.
 * @example const stock = createStock(sqliteStock({ path: '/var/lib/shop/stock.db' }));
 */
export function sqliteStock(options: { readonly path: string }): SqliteStock {
  checkOptions(options, ['path'], 'sqliteStock');
  // Not imported above: Node 22 warns of it at once, which is of no use to whoever sells on Redis.
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

  /** SQLite has already rolled back after some errors (a full disk), and says so. */
  function rollback(): void {
    try {
      database.exec('ROLLBACK');
    } catch {}
  }

  /** Without an await from begin to commit: nobody else of this process comes in between. */
  async function transaction<T>(conversation: Conversation<T>): Promise<T> {
    database.exec('BEGIN IMMEDIATE');
    try {
      let said = conversation.next();
      while (!said.done) said = conversation.next(ask(...said.value));
      database.exec('COMMIT');
      return said.value;
    } catch (error) {
      rollback();
      throw error;
    }
  }

  let open = true;
  const close = (): void => {
    if (open) database.close();
    open = false;
  };
  return {
    name: 'sqlite',
    servers: 1,
    layout: (product) => transaction(statements.layout(product)),
    relayout: (product, was, layout) => transaction(statements.relayout(product, was, layout)),
    step: (address, cell, steps) => transaction(statements.step(address, cell, steps)),
    clear: (address, cell) => transaction(statements.clear(address, cell)),
    close,
    [Symbol.dispose]: close,
  };
}
