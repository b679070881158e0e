import { LockError } from '../../core/index.ts';
import type { Header, PoolRow } from './pool.ts';

/** ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT, ER_CHECKREAD. The statement had no effect, and another try may succeed. */
const PASSING = new Set([1213, 1205, 1020]);

const RIGHTS = 'grant the user the rights that the page of this backend lists';

/** Definite refusals, each with advice: a repeated statement would be refused again. */
const DEFINITE: Readonly<Record<number, string>> = {
  1044: RIGHTS,
  1045: 'check the user and the password',
  1142: RIGHTS,
  1143: RIGHTS,
  1227: RIGHTS,
  1370: RIGHTS,
  1049: 'create the database, or name another one',
  1046: 'name a database in the options of the pool, or in the name of the table',
  1146: 'let a user who may create tables call setup() once',
  1054: 'the table is not one of holdfast: name another one',
  1064: 'the server is too old: MariaDB 10.6 or MySQL 8.0 is the least',
  1114: 'the table or the disk is full: make room',
  1021: 'the disk is full: make room',
};

const numberOf = (error: unknown): number | undefined => (error as { errno?: number } | undefined)?.errno;

export const isPassing = (error: unknown): boolean => PASSING.has(numberOf(error) ?? 0);
export const isNoTable = (error: unknown): boolean => numberOf(error) === 1146;

/** Makes a definite refusal a `LockError`. Any other error stays as it is, since its outcome is unknown. */
export function translateError(error: unknown, backend: string): unknown {
  const advice = DEFINITE[numberOf(error) ?? 0];
  if (advice === undefined) return error;
  // `message` of the package `mariadb` also contains the statement.
  const { message, sqlMessage } = error as { message: string; sqlMessage?: string | null };
  return refusal(backend, sqlMessage ?? message, advice, error);
}

export const refusal = (backend: string, what: string, advice: string, cause?: unknown): LockError =>
  new LockError('LOCK_UNAVAILABLE', `${backend} refused: ${what}. What to do: ${advice}`, { backend, cause });

/** ER_OPTION_PREVENTS_STATEMENT, ER_READ_ONLY_MODE, ER_SERVER_OFFLINE_MODE. */
const NO_WRITES = new Set([1290, 1836, 3032]);

/**
 * The server behind a connection takes no writes. After a fail-over that keeps the address, the old primary keeps its connections, and only a
 * new connection leads to the new primary. So a connection with this refusal is ended, and the statement may be sent over another one.
 */
export class NoWrites extends Error {
  constructor(said: string, cause?: unknown) {
    const what = `the server takes no writes (${said}); the connection has been ended`;
    super(`${what}. If it stays so: connect to the primary`, { cause });
  }
}

export const isNoWrites = (error: unknown): boolean => NO_WRITES.has(numberOf(error) ?? 0);

/** @param result if its rows have a column `closed`, the column says whether the server takes no writes @throws NoWrites */
export function checkWrites(result: unknown): void {
  const [row] = Array.isArray(result) ? (result as PoolRow[]) : [];
  if (Number(row?.closed ?? 0) !== 0) throw new NoWrites('it is read-only');
}

/**
 * The application gave a connection back with a transaction, or something like it, open. The end of that transaction also commits or undoes
 * our statements in it, so their answers do not count. We end the connection, and the server undoes all of the transaction.
 */
export class LeftOpen extends Error {
  readonly what: keyof typeof ADVICE;

  constructor(what: keyof typeof ADVICE, cause?: unknown) {
    const said = `a connection of the pool was given back with ${what}`;
    super(`${said}; it has been ended, and the server undoes what was open on it: ${ADVICE[what]}`, { cause });
    this.what = what;
  }
}

const END = 'end each by COMMIT or ROLLBACK before the connection goes back';
const ADVICE = {
  'a transaction left open': END,
  'a transaction left open that takes no writes': `${END}, and leave the sessions of this pool read-write`,
  'an XA transaction left open': 'end each by XA COMMIT or XA ROLLBACK before the connection goes back',
  'tables left locked': 'UNLOCK TABLES before the connection goes back',
  'autocommit off': 'leave autocommit on in this pool',
} as const;

/** ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, XAER_RMFAIL, ER_TABLE_NOT_LOCKED_FOR_WRITE, ER_TABLE_NOT_LOCKED. */
const LEFT_OPEN: Readonly<Record<number, keyof typeof ADVICE>> = {
  1792: 'a transaction left open that takes no writes',
  1399: 'an XA transaction left open',
  1099: 'tables left locked',
  1100: 'tables left locked',
};

/** Flags about the session in each answer of the server: SERVER_STATUS_IN_TRANS, SERVER_STATUS_AUTOCOMMIT. */
const [IN_TRANSACTION, AUTOCOMMIT] = [1, 2];

/** Makes a `LeftOpen` of an error, if the server refused the statement because of something open. */
export function leftOpenError(error: unknown): unknown {
  const what = LEFT_OPEN[numberOf(error) ?? 0];
  return what ? new LeftOpen(what, error) : error;
}

/**
 * @returns true if nothing was open; undefined if these rows do not show it: their column `open` is null
 * @throws LeftOpen
 */
export function checkAlone(result: unknown): boolean | undefined {
  if (Array.isArray(result)) {
    const [row] = result as PoolRow[];
    if (row?.open === undefined) return true; // the statement does not read `open`
    if (row.open === null) return undefined;
    if (Number(row.open) !== 0)
      throw new LeftOpen(Number(row.open) === 2 ? 'autocommit off' : 'a transaction left open');
    return true;
  }
  const { serverStatus = AUTOCOMMIT } = result as Header;
  if (!(serverStatus & AUTOCOMMIT)) throw new LeftOpen('autocommit off');
  if (serverStatus & IN_TRANSACTION) throw new LeftOpen('a transaction left open');
  return true;
}
