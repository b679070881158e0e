import type { DatabaseSync } from 'node:sqlite';
import type { Locks } from '../../src/index.ts';

export const STEPS = 'CREATE TABLE IF NOT EXISTS steps (name TEXT UNIQUE)';

export interface Step {
  readonly name: string;
  readonly sql: string;
}

/** Resolves when the schema is there. How many steps were done here. */
export function migrate(locks: Locks, db: DatabaseSync, steps: readonly Step[]): Promise<number> {
  return locks.mutex('migrations').run(
    async (lease) => {
      const done = new Set(
        db
          .prepare('SELECT name FROM steps')
          .all()
          .map(({ name }) => name),
      );
      const missing = steps.filter(({ name }) => !done.has(name));
      for (const { name, sql } of missing) {
        lease.assertHeld();
        db.exec('BEGIN IMMEDIATE');
        try {
          db.prepare('INSERT INTO steps VALUES (?)').run(name);
          db.exec(sql);
          db.exec('COMMIT');
        } catch (error) {
          db.exec('ROLLBACK');
          throw error;
        }
      }
      return missing.length;
    },
    { wait: '10m' },
  );
}
