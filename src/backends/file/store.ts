import {
  closeSync,
  existsSync,
  linkSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { answers } from './dial.ts';
import { faultOf, isBusy, unavailable } from './errors.ts';
import { isMounted, networkOf } from './file-system.ts';
import { machineBoot, machineTime } from './machine.ts';
import { notes, schema } from './sql.generated.ts';
import { prepare, type Statements } from './statements.ts';

/** `process`: what is granted outlives every process. `power`: it also outlives a power cut; each step waits for the disk. */
export type Durability = 'process' | 'power';

/** 'hold' in the header of the file: https://sqlite.org/pragma.html#pragma_application_id */
const APPLICATION = 0x686f6c64;
const FORMAT = 1;
/**
 * Tickets skipped at each start of the machine: more than can have been given out since the disk last had the file, so
 * that a power cut makes none of them come again. 2^17 starts fit below 2^53.
 */
const LEAP = 2 ** 36;
/** A row has about 250 bytes: small pages make the log that every step writes small too. */
const PAGE = 1_024;
/** Of processes that have claims which have not lapsed. */
const BELLS = "SELECT DISTINCT bell FROM claim WHERE lapses > ? AND bell <> ''";
const ELSEWHERE =
  'a process that holds or waits in it sees another /proc/sys/kernel/random/boot_id, as in a container that has one of its own; let all see that of the host';
/** How long a look at the directory is good for. ms. */
const LOOK = 10;

/** A locks file that is open and known to be one. Every method throws SQLite's busy error at once instead of waiting. */
export class Store {
  /** The file itself, whatever links lead to it. */
  readonly path: string;
  readonly #given: string;
  readonly #db: DatabaseSync;
  #sql!: Statements;
  readonly #file: Stats;
  readonly #boot = machineBoot();
  #lookAgain = 0;

  /** @throws LockError `LOCK_UNAVAILABLE`, with the file as it was. */
  static async open(path: string, durability: Durability): Promise<Store> {
    const store = new Store(path, durability);
    try {
      const dead = new Set<string>();
      for (let bell = store.#settle(dead); bell !== undefined; bell = store.#settle(dead)) {
        if (await answers(store.path, bell)) throw unavailable(path, ELSEWHERE);
        dead.add(bell);
      }
      store.#sql = prepare(store.#db);
      return store;
    } catch (error) {
      store.close();
      throw isBusy(error) ? error : faultOf(error, path);
    }
  }

  /** Opens it, and changes nothing that it says; use `open`. */
  constructor(path: string, durability: Durability) {
    this.#given = path;
    try {
      this.path = create(path);
    } catch (error) {
      throw unavailable(path, 'let this user create and write files there, or give another path', error);
    }
    this.#file = statSync(this.path);
    if (!this.#file.isFile()) throw unavailable(path, 'it is no file: give the path of one');
    if (isMounted(this.path)) {
      throw unavailable(path, 'it is mounted without what SQLite keeps beside it: mount its directory instead');
    }
    // Its busy_timeout is 0. Waiting inside SQLite would stop the event loop for as long as another process is stopped.
    this.#db = new DatabaseSync(this.path);
    try {
      identify(this.#db, this.path);
      this.#db.exec(`PRAGMA page_size = ${PAGE}; PRAGMA journal_mode = WAL;
        PRAGMA synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`);
    } catch (error) {
      this.#db.close();
      throw isBusy(error) ? error : faultOf(error, path);
    }
  }

  /** One transaction under the write lock. */
  transact<T>(work: (sql: Statements, now: number) => T): T {
    const { begin, commit, rollback } = this.#sql;
    begin.run();
    try {
      const result = work(this.#sql, machineTime());
      commit.run();
      return result;
    } catch (error) {
      undo(() => rollback.run());
      throw error;
    }
  }

  /**
   * The first of `span` new tickets, within a transaction.
   * @throws LockError when the file is no longer as it was opened.
   */
  readonly draw = (span: number, atLeast: bigint): number => {
    return this.#known(this.#sql.draw.get(atLeast, span, FORMAT, this.#boot)).last - span + 1;
  };

  /** Sees to it that no later ticket is this one or lower; throws as `draw`. */
  readonly lift = (ticket: number): void => {
    this.#known(this.#sql.lift.get(ticket, FORMAT, this.#boot));
  };

  #known(ledger: unknown): { last: number } {
    if (ledger) return ledger as { last: number };
    throw unavailable(
      this.path,
      'its format, or which start of the machine it goes by, was changed by another process; use the newest release everywhere, let all see one /proc/sys/kernel/random/boot_id, and start this process anew',
    );
  }

  /** Whether the file, or a link that led to it, was deleted or replaced: whoever opens it now gets another one. */
  get replaced(): boolean {
    const now = machineTime();
    if (now < this.#lookAgain) return false;
    this.#lookAgain = now + LOOK;
    const found = statSync(this.#given, { throwIfNoEntry: false });
    return found?.ino !== this.#file.ino || found.dev !== this.#file.dev;
  }

  close(): void {
    this.#db.close();
  }

  /**
   * Makes the tables of a new file, and makes void what another start of the machine left behind. In a container with a
   * `boot_id` of its own every other process seems to be of another start, but only those of this one are alive.
   * @returns instead, the bell of a claim that has to be found among the `dead` first
   */
  #settle(dead: ReadonlySet<string>): string | undefined {
    const db = this.#db;
    db.exec('BEGIN IMMEDIATE');
    try {
      if (tables(db) === 0) {
        db.exec(schema);
        db.exec(`PRAGMA application_id = ${APPLICATION}`);
        db.prepare('INSERT INTO ledger VALUES (1, ?, ?, 0)').run(FORMAT, this.#boot);
      }
      db.exec(notes);
      const { format, boot } = db.prepare('SELECT format, boot FROM ledger').get() as { format: number; boot: string };
      if (format !== FORMAT) {
        throw unavailable(
          this.path,
          `its format is ${format}, this release knows ${FORMAT}; use the newest everywhere`,
        );
      }
      const now = machineTime();
      const ahead = db.prepare('SELECT 1 FROM claim WHERE joined > ? LIMIT 1').get(now);
      const alive = db.prepare('SELECT 1 FROM claim WHERE lapses > ? LIMIT 1').get(now);
      if (alive && !ahead && boot !== this.#boot && (boot === '' || this.#boot === '')) {
        throw unavailable(
          this.path,
          'of those that lock in it not all can tell which start of the machine this is; let all read /proc/sys/kernel/random/boot_id, or none',
        );
      }
      const bells = boot !== this.#boot && !ahead ? db.prepare(BELLS).all(now) : [];
      const unasked = bells.find(({ bell }) => !dead.has(String(bell)));
      if (unasked) {
        db.exec('ROLLBACK');
        return String(unasked.bell);
      }
      if (boot !== this.#boot || ahead) {
        db.exec('DELETE FROM claim; DELETE FROM note');
        db.prepare('UPDATE ledger SET boot = ?, last = last + ?').run(this.#boot, LEAP);
      }
      db.exec('COMMIT');
      return undefined;
    } catch (error) {
      undo(() => db.exec('ROLLBACK'));
      throw error;
    }
  }
}

/** Makes file and directory, private to this user, where there is none; SQLite gives its other files the same mode. */
function create(path: string): string {
  const directory = dirname(path);
  // Not made: who misspelt it would have a lock of their own, and be let in.
  if (!existsSync(directory)) throw new Error(`its folder, ${directory}, does not exist; make it, or correct the path`);
  const network = networkOf(directory);
  if (network)
    throw new Error(`${network} is a network file system: hosts that share it share neither clock nor sockets`);
  if (!existsSync(path)) make(path, directory);
  return realpathSync(path);
}

/**
 * It has its name only when it is closed here: closing a file that another thread may have opened would drop the locks that
 * SQLite has on it in this process (https://sqlite.org/howtocorrupt.html, 2.2).
 */
function make(path: string, directory: string): void {
  const workshop = mkdtempSync(join(directory, '.holdfast-'));
  const made = join(workshop, 'empty');
  try {
    closeSync(openSync(made, 'wx', 0o600));
    linkSync(made, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(made, { force: true }); // one by one: to list what is in there may take a descriptor that cannot be had
    rmdirSync(workshop);
  }
}

/** Looks, and changes nothing. */
function identify(db: DatabaseSync, path: string): void {
  const made = tables(db) > 0; // first: another process may just be making it, tables and application in one step
  const { application_id: application } = db.prepare('PRAGMA application_id').get() as { application_id: number };
  if (application !== APPLICATION && (application !== 0 || made)) {
    throw unavailable(path, 'it belongs to another application: give another path; nothing in it was changed');
  }
  const { quick_check: answer } = db.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (answer !== 'ok') throw Object.assign(new Error(answer), { errcode: 11 });
}

/** SQLite has already rolled back after some errors (a full disk), and says so. */
function undo(rollback: () => void): void {
  try {
    rollback();
  } catch {}
}

const tables = (db: DatabaseSync): number =>
  (db.prepare('SELECT count(*) AS count FROM sqlite_schema').get() as { count: number }).count;
