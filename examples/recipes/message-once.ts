import type { DatabaseSync } from 'node:sqlite';
import type { Locks } from '../../src/index.ts';

export interface Payment {
  readonly id: string;
  readonly amount: number;
}

export const SCHEMA = `
  CREATE TABLE IF NOT EXISTS handled (id TEXT PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS balance (total INTEGER NOT NULL);
  INSERT INTO balance SELECT 0 WHERE NOT EXISTS (SELECT * FROM balance)`;

/** What has to happen and the note that it has happened are one transaction. False: it had happened before. */
export function book(db: DatabaseSync, { id, amount }: Payment): boolean {
  db.exec('BEGIN IMMEDIATE');
  try {
    const first = db.prepare('INSERT OR IGNORE INTO handled VALUES (?)').run(id).changes === 1;
    if (first) db.prepare('UPDATE balance SET total = total + ?').run(amount);
    db.exec('COMMIT');
    return first;
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

export const wasHandled = (db: DatabaseSync, { id }: Payment): boolean =>
  db.prepare('SELECT 1 FROM handled WHERE id = ?').get(id) !== undefined;

/** The lock, with the look under it, saves the work of the other deliveries. The transaction makes the effect count once. */
export function onMessage(
  locks: Locks,
  db: DatabaseSync,
  payment: Payment,
  fetchReceipt: () => Promise<void>,
): Promise<boolean> {
  return locks.mutex(`payment:${payment.id}`).run(
    async () => {
      if (wasHandled(db, payment)) return false; // by the holder before this one
      await fetchReceipt(); // slow: not to be done by two
      return book(db, payment);
    },
    { wait: '10s' },
  );
}
