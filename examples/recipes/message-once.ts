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

/** The lock saves two workers from the same work at the same time. That it counts once is the transaction's doing. */
export function onMessage(
  locks: Locks,
  db: DatabaseSync,
  payment: Payment,
  fetchReceipt: () => Promise<void>,
): Promise<boolean> {
  return locks.mutex(`payment:${payment.id}`).run(
    async () => {
      await fetchReceipt(); // slow: not to be done by two
      return book(db, payment);
    },
    { wait: '1m' },
  );
}
