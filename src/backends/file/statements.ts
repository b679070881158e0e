import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** A claim as it is stored (`sql/schema.sql`). */
export interface Row {
  readonly key: Uint8Array;
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
  readonly bell: string;
  readonly first: 0 | 1;
  readonly taken: number | null;
  readonly room: number | null;
  readonly waiting: number | null;
  readonly soonest: number | null;
}

const COLUMNS =
  'key token id label units capacity ttl joined expires held lingers bell first taken room waiting soonest';
const ONE = 'WHERE key = ? AND token = ?';

/** No parameter has a number: Node reads `?1` only since 22.20 and 24.7. */
const SQL = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  /** (at least, span, format, boot) → the last token of the span; no row when the file has changed. */
  draw: 'UPDATE ledger SET last = max(last + 1, ?) + ? - 1 WHERE format = ? AND boot = ? RETURNING last',
  /** (token, format, boot) → a row, as of `draw`. */
  lift: 'UPDATE ledger SET last = max(last, ?) WHERE format = ? AND boot = ? RETURNING last',
  head: 'SELECT * FROM claim WHERE key = ? ORDER BY token LIMIT 1',
  byId: 'SELECT * FROM claim WHERE id = ? AND first = 0',
  byToken: `SELECT * FROM claim ${ONE}`,
  after: 'SELECT * FROM claim WHERE key = ? AND token > ? ORDER BY token LIMIT 1',
  expired: 'SELECT * FROM claim WHERE key = ? AND expires <= ? ORDER BY token DESC',
  soonest: 'SELECT min(expires) AS soonest FROM claim WHERE key = ?',
  room: 'SELECT min(capacity) AS room FROM claim WHERE key = ? AND held = 1',
  insert: `INSERT INTO claim (${COLUMNS.replaceAll(' ', ', ')}) VALUES (${COLUMNS.replace(/\w+/g, '?').replaceAll(' ', ', ')})`,
  remove: `DELETE FROM claim ${ONE}`,
  live: `UPDATE claim SET expires = ? ${ONE}`,
  raise: `UPDATE claim SET token = ? ${ONE}`,
  admit: `UPDATE claim SET held = 1, expires = ? ${ONE}`,
  tally: `UPDATE claim SET taken = ?, room = ?, waiting = ?, soonest = ? ${ONE}`,
  bellsAhead: `SELECT DISTINCT bell FROM claim WHERE key = ? AND token < ? AND bell <> ''`,
  /** Some keys with claims that have expired. */
  expiredKeys: 'SELECT DISTINCT key FROM claim WHERE expires <= ? LIMIT 100',
  /** Some claims that end with their process. */
  mortal: 'SELECT * FROM claim WHERE bell = ? AND (held = 0 OR lingers = 0) LIMIT 100',
  orphan: `UPDATE claim SET bell = '' WHERE bell = ?`,
  heldBy: 'SELECT * FROM claim WHERE bell = ? AND held = 1',
  /** As bytes, for the same reason as in `range`. */
  note: 'SELECT CAST(text AS BLOB) AS text FROM note WHERE name = ? AND expires > ?',
  noteDown: 'INSERT INTO note VALUES (?, ?, ?)',
  /** A note by its name, and all notes that are over. */
  forget: 'DELETE FROM note WHERE name = ? OR expires <= ?',
  word: 'SELECT record FROM word WHERE name = ? AND expires > ?',
  keepWord: 'INSERT OR REPLACE INTO word VALUES (?, ?, ?)',
  wordNames: 'SELECT name FROM word WHERE name >= ? AND name < ? AND expires > ?',
  forgetWord: 'DELETE FROM word WHERE name = ?',
  /** More than one that is written: so those that are over go faster than new ones come. */
  overWords: 'DELETE FROM word WHERE rowid IN (SELECT rowid FROM word WHERE expires <= ? LIMIT 2)',
  /** The label as bytes: Node 22.13 and Deno 2.9 read a text only up to its first NUL. */
  range: 'SELECT *, CAST(label AS BLOB) AS words FROM claim WHERE key >= ? AND key < ? ORDER BY key, token',
} as const;

export type Statements = Readonly<Record<keyof typeof SQL, StatementSync>>;

/** All statements after the opening, prepared once. */
export function prepare(db: DatabaseSync): Statements {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)]);
  return Object.fromEntries(prepared) as Statements;
}
