import { DatabaseSync } from 'node:sqlite';
import type { Database } from './database.ts';

/** For the other processes that write the file. ms. */
const PATIENCE = 10_000;

/** A file, for a shop without a database server. */
export function openSqlite(path: string): Database {
  const file = new DatabaseSync(path, { timeout: PATIENCE });
  file.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  return {
    mark: () => '?',
    query: async (sql, params) => file.prepare(sql).all(...(params as (string | number)[])),
    end: async () => file.close(),
  };
}
