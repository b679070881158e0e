import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LockError } from '../../core/index.ts';

/** In a runtime without SQLite, an `import` would end the program with a stack trace. */
const sqlite = (): typeof import('node:sqlite') | undefined => process.getBuiltinModule?.('node:sqlite');

/** @throws LockError `LOCK_UNSUPPORTED` where the runtime has no SQLite */
export function checkSqlite(): void {
  if (sqlite()) return;
  const needed = 'use Node.js 22.13 or newer, built with SQLite and without --no-experimental-sqlite';
  const message = `file() needs node:sqlite, which this runtime does not have: ${needed}`;
  throw new LockError('LOCK_UNSUPPORTED', message, { backend: 'file' });
}

export const openDatabase = (path: string): DatabaseSync => new (sqlite()!.DatabaseSync)(path);

/** A claim as it is stored (`sql/schema.sql`). */
export interface ClaimRow {
  readonly name: Uint8Array;
  readonly token: number;
  readonly id: string;
  readonly label: string;
  readonly units: number;
  readonly capacity: number;
  readonly ttl: number;
  readonly joined: number;
  readonly expires: number;
  readonly held: 0 | 1;
  readonly lingers: 0 | 1;
  readonly process: string;
  readonly version: string;
}

const ONE = 'WHERE name = ? AND token = ?';

/** No parameter has a number: Node reads `?1` only since 22.20 and 24.7. */
const SQL = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  /** (lowest token, number of tokens, format, boot) → the last of these tokens; no row if another process changed `format` or `boot`. */
  draw: 'UPDATE ledger SET last = max(last + 1, ?) + ? - 1 WHERE format = ? AND boot = ? RETURNING last',
  /** (token, format, boot) → the last token; no row as in `draw`. */
  lift: 'UPDATE ledger SET last = max(last, ?) WHERE format = ? AND boot = ? RETURNING last',
  /** The first row has the version of the queue. */
  version: 'SELECT version FROM claim WHERE name = ? ORDER BY token LIMIT 1',
  claims: `SELECT token, id, label, units, capacity, ttl, joined, expires, held, lingers, process, version
    FROM claim WHERE name = ? ORDER BY token`,
  keep: 'INSERT OR REPLACE INTO claim VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  remove: `DELETE FROM claim ${ONE}`,
  stamp: `UPDATE claim SET version = ? ${ONE}`,
  /** Some keys with claims that have expired. */
  expiredNames: 'SELECT DISTINCT name FROM claim WHERE expires <= ? LIMIT 100',
  /** Some claims that end with their process: claims that wait, and holds that do not linger. */
  mortal: 'SELECT * FROM claim WHERE process = ? AND (held = 0 OR lingers = 0) LIMIT 100',
  /** (new version, process, process). Removes the name of a dead process from the holds that outlive it; their queues get a new version. */
  orphan: `UPDATE claim SET version = ?, process = CASE process WHEN ? THEN '' ELSE process END
    WHERE name IN (SELECT name FROM claim WHERE process = ?)`,
  names: 'SELECT DISTINCT name FROM claim WHERE name >= ? AND name < ? ORDER BY name',
  value: 'SELECT record FROM value WHERE name = ? AND expires > ?',
  valueNames: 'SELECT name FROM value WHERE name >= ? AND name < ? AND expires > ?',
  keepValue: 'INSERT OR REPLACE INTO value VALUES (?, ?, ?)',
  removeValue: 'DELETE FROM value WHERE name = ?',
  /** Each write of a value also removes up to two expired values: so expired values go faster than new ones come. */
  removeExpiredValues: 'DELETE FROM value WHERE rowid IN (SELECT rowid FROM value WHERE expires <= ? LIMIT 2)',
} as const;

export type Statements = Readonly<Record<keyof typeof SQL, StatementSync>>;

/** Prepares all statements that are used after the opening. */
export function prepare(db: DatabaseSync): Statements {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)]);
  return Object.fromEntries(prepared) as Statements;
}
