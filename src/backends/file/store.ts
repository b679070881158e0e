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
import type { DatabaseSync } from 'node:sqlite';
import type { Tokens } from '../shared/stored-queue.ts';
import { faultOf, isBusy, unavailable } from './errors.ts';
import { isMounted, machineBoot, machineTime, networkOf } from './machine.ts';
import { answers } from './sockets.ts';
import { schema } from './sql.generated.ts';
import { openDatabase, prepare, type Statements } from './statements.ts';

/** `process`: a grant outlives every process. `power`: it also outlives a power cut, and each step waits for the disk. */
export type Durability = 'process' | 'power';

/** 'hold' in the header of the file: https://sqlite.org/pragma.html#pragma_application_id */
const APPLICATION = 0x686f6c64;
const FORMAT = 2;
/**
 * How many tokens are skipped at each boot of the machine. After a power cut, the file does not know the tokens that were given out since it
 * was last written to disk. These are fewer than this number, so no token is given out twice. 2^17 boots fit below 2^53. The skip itself is
 * written to disk before the first token.
 */
const SKIPPED_TOKENS = 2 ** 36;
/** The processes with claims that have not expired. */
const PROCESSES = "SELECT DISTINCT process FROM claim WHERE expires > ? AND process <> ''";
/** A row has about 250 bytes. Every step writes whole pages to the log, so small pages keep the log small. */
const PAGE_BYTES = 1_024;
const OTHER_BOOT_ID =
  'a process that holds or waits in it sees another /proc/sys/kernel/random/boot_id, as in a container that has one of its own; let all see that of the host';
/** The shortest time between two checks whether the file was replaced, ms. */
const DIRECTORY_KNOWN_MS = 10;

/** An open locks file. Every method throws SQLite's busy error at once instead of waiting. */
export class Store implements Tokens {
  /** The real path, without links. */
  readonly path: string;
  readonly #given: string;
  readonly #db: DatabaseSync;
  #sql!: Statements;
  readonly #file: Stats;
  readonly #boot = machineBoot();
  #lookAgain = 0;

  /** @throws LockError `LOCK_UNAVAILABLE`, after which the file is unchanged */
  static async open(path: string, durability: Durability): Promise<Store> {
    const store = new Store(path);
    try {
      const dead = new Set<string>();
      const next = (): string | undefined => settle(store.#db, store.path, store.#boot, dead);
      for (let peer = next(); peer !== undefined; peer = next()) {
        if (await answers(store.path, peer)) throw unavailable(path, OTHER_BOOT_ID);
        dead.add(peer);
      }
      if (durability === 'process') store.#db.exec('PRAGMA synchronous = NORMAL');
      store.#sql = prepare(store.#db);
      return store;
    } catch (error) {
      store.close();
      throw isBusy(error) ? error : faultOf(error, path);
    }
  }

  /** Only opens the file, and changes no locks. Callers use `open`. */
  constructor(path: string) {
    this.#given = path;
    try {
      this.path = create(path);
    } catch (error) {
      throw unavailable(path, 'let this user create and write files there, or give another path', error);
    }
    this.#file = statSync(this.path);
    if (!this.#file.isFile()) throw unavailable(path, 'it is no file: give the path of one');
    if (isMounted(this.path))
      throw unavailable(path, 'it is mounted without what SQLite keeps beside it: mount its directory instead');
    // The database has busy_timeout 0: a wait inside SQLite would stop the event loop for as long as another process is stopped.
    this.#db = openDatabase(this.path);
    try {
      identify(this.#db, this.path);
      this.#db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL`); // the skip of tokens at a boot has to be on the disk before the first token is given out
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

  /** Call this within a transaction. @throws LockError when another process has changed `format` or `boot` */
  reserve(count: number, min: bigint): bigint {
    const { last } = this.#known(this.#sql.draw.get(min, count, FORMAT, this.#boot));
    return BigInt(last - count + 1);
  }

  /** Call this within a transaction. @throws LockError as `reserve` */
  pass(token: bigint): void {
    this.#known(this.#sql.lift.get(token, FORMAT, this.#boot));
  }

  #known(ledger: unknown): { last: number } {
    if (ledger) return ledger as { last: number };
    throw unavailable(
      this.path,
      'another process has changed its format, or its start of the machine; use the newest release everywhere, let all see one /proc/sys/kernel/random/boot_id, and restart this process',
    );
  }

  /** Whether the file, or a link that led to it, was deleted or replaced. A process that opens the path now gets another file. */
  get replaced(): boolean {
    const now = machineTime();
    if (now < this.#lookAgain) return false;
    this.#lookAgain = now + DIRECTORY_KNOWN_MS;
    const found = statSync(this.#given, { throwIfNoEntry: false });
    return found?.ino !== this.#file.ino || found.dev !== this.#file.dev;
  }

  close(): void {
    this.#db.close();
  }
}

/** Makes a missing file, private to this user. SQLite gives its other files the same mode. */
function create(path: string): string {
  const directory = dirname(path);
  // A missing folder is not made: a process with a misspelt path would get a file of its own, and hold locks that others hold.
  if (!existsSync(directory)) throw new Error(`its folder, ${directory}, does not exist; make it, or correct the path`);
  const network = networkOf(directory);
  if (network)
    throw new Error(`${network} is a network file system: hosts that share it share neither clock nor sockets`);
  if (!existsSync(path)) make(path, directory);
  return realpathSync(path);
}

/**
 * The file gets its name after this function has closed it. If it had the name earlier, another thread might open the file, and then the
 * close here would end the locks of SQLite on the file in this process (https://sqlite.org/howtocorrupt.html, 2.2).
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
    rmSync(made, { force: true }); // not recursively: a listing needs a file descriptor, and there may be none left
    rmdirSync(workshop);
  }
}

/** Checks that the file is a locks file, or empty, and changes nothing. */
function identify(db: DatabaseSync, path: string): void {
  // Count the tables first. Otherwise another process could write id and tables after we read no id, and the tables would seem foreign.
  const made = tables(db) > 0;
  const { application_id: application } = db.prepare('PRAGMA application_id').get() as { application_id: number };
  if (application !== APPLICATION && (application !== 0 || made))
    throw unavailable(path, 'it belongs to another application: give another path; nothing in it was changed');
  const { quick_check: answer } = db.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (answer !== 'ok') throw Object.assign(new Error(answer), { errcode: 11 });
}

/**
 * Makes the tables of a new file, and removes the claims of an earlier boot of the machine. Only processes of this boot can be alive. But
 * in a container with a `boot_id` of its own, the claims of all other processes seem to be of another boot. So those processes are asked.
 * @returns the name of a process that may be alive: ask it and, if it is dead, add the name to `dead` and call again; undefined: all is done
 */
function settle(db: DatabaseSync, path: string, own: string, dead: ReadonlySet<string>): string | undefined {
  db.exec('BEGIN IMMEDIATE');
  try {
    if (tables(db) === 0) {
      db.exec(schema);
      db.exec(`PRAGMA application_id = ${APPLICATION}`);
      db.prepare('INSERT INTO ledger VALUES (1, ?, ?, 0)').run(FORMAT, own);
    }
    const { format, boot } = db.prepare('SELECT format, boot FROM ledger').get() as { format: number; boot: string };
    if (format !== FORMAT)
      throw unavailable(path, `its format is ${format}, this release knows ${FORMAT}; use the newest everywhere`);
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
      db.exec('DELETE FROM claim; DELETE FROM value');
      db.prepare('UPDATE ledger SET boot = ?, last = last + ?').run(own, SKIPPED_TOKENS);
    }
    db.exec('COMMIT');
    return undefined;
  } catch (error) {
    undo(() => db.exec('ROLLBACK'));
    throw error;
  }
}

/** After some errors, such as a full disk, SQLite has rolled back already. Then `rollback` fails. */
function undo(rollback: () => void): void {
  try {
    rollback();
  } catch {}
}

const tables = (db: DatabaseSync): number =>
  (db.prepare('SELECT count(*) AS count FROM sqlite_schema').get() as { count: number }).count;
