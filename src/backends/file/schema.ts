import type { DatabaseSync } from 'node:sqlite';
import { unavailable } from './errors.ts';
import { machineTime } from './machine.ts';
import { schema } from './sql.generated.ts';

/** 'hold' in the header of the file: https://sqlite.org/pragma.html#pragma_application_id */
const APPLICATION = 0x686f6c64;
export const FORMAT = 1;
/**
 * Tokens skipped at each start of the machine. These are more than can have been given out since the file was last on disk, so no
 * token comes again after a power cut. 2^17 starts fit below 2^53.
 */
const LEAP = 2 ** 36;
/** The processes that have claims which have not expired. */
const PROCESSES = "SELECT DISTINCT process FROM claim WHERE expires > ? AND process <> ''";

/** Checks that the file is a locks file, or empty, and changes nothing. */
export function identify(db: DatabaseSync, path: string): void {
  const made = tables(db) > 0; // first: another process may make it just now, with tables and application in one step
  const { application_id: application } = db.prepare('PRAGMA application_id').get() as { application_id: number };
  if (application !== APPLICATION && (application !== 0 || made)) {
    throw unavailable(path, 'it belongs to another application: give another path; nothing in it was changed');
  }
  const { quick_check: answer } = db.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (answer !== 'ok') throw Object.assign(new Error(answer), { errcode: 11 });
}

/**
 * Makes the tables of a new file, and removes the claims of an earlier start of the machine. To a process in a container with a
 * `boot_id` of its own, every other process seems to be of another start. But only processes of this start can be alive.
 * @returns the bell of a claim that must be asked first; when it is known to be `dead`, call this again
 */
export function settle(db: DatabaseSync, path: string, own: string, dead: ReadonlySet<string>): string | undefined {
  db.exec('BEGIN IMMEDIATE');
  try {
    if (tables(db) === 0) {
      db.exec(schema);
      db.exec(`PRAGMA application_id = ${APPLICATION}`);
      db.prepare('INSERT INTO ledger VALUES (1, ?, ?, 0)').run(FORMAT, own);
    }
    const { format, boot } = db.prepare('SELECT format, boot FROM ledger').get() as { format: number; boot: string };
    if (format !== FORMAT) {
      throw unavailable(path, `its format is ${format}, this release knows ${FORMAT}; use the newest everywhere`);
    }
    const now = machineTime();
    const ahead = db.prepare('SELECT 1 FROM claim WHERE joined > ? LIMIT 1').get(now);
    const alive = db.prepare('SELECT 1 FROM claim WHERE expires > ? LIMIT 1').get(now);
    if (alive && !ahead && boot !== own && (boot === '' || own === '')) {
      throw unavailable(
        path,
        'not all processes that lock in it can tell which start of the machine this is; let all read /proc/sys/kernel/random/boot_id, or none',
      );
    }
    const processes = boot !== own && !ahead ? db.prepare(PROCESSES).all(now) : [];
    const unasked = processes.find(({ process }) => !dead.has(String(process)));
    if (unasked) {
      db.exec('ROLLBACK');
      return String(unasked.process);
    }
    if (boot !== own || ahead) {
      db.exec('DELETE FROM claim; DELETE FROM hint; DELETE FROM value');
      db.prepare('UPDATE ledger SET boot = ?, last = last + ?').run(own, LEAP);
    }
    db.exec('COMMIT');
    return undefined;
  } catch (error) {
    undo(() => db.exec('ROLLBACK'));
    throw error;
  }
}

/** After some errors, such as a full disk, SQLite has rolled back already, and says so. */
export function undo(rollback: () => void): void {
  try {
    rollback();
  } catch {}
}

const tables = (db: DatabaseSync): number =>
  (db.prepare('SELECT count(*) AS count FROM sqlite_schema').get() as { count: number }).count;
