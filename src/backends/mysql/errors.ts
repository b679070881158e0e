import { LockError } from '../../core/contract/errors.ts';

/** ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT, ER_CHECKREAD. They had no effect, and another try may succeed. */
const PASSING = new Set([1213, 1205, 1020]);

const RIGHTS = 'grant the user the rights that the page of this backend lists';

/** Refusals that stay, however often a statement is repeated, and what to do about each. */
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
/** ER_TABLEACCESS_DENIED_ERROR. */
export const isNoRight = (error: unknown): boolean => numberOf(error) === 1142;
export const isNoTable = (error: unknown): boolean => numberOf(error) === 1146;

/** A definite refusal as a `LockError`; anything else as it is, since its outcome is unknown. */
export function translateError(error: unknown, backend: string): unknown {
  const advice = DEFINITE[numberOf(error) ?? 0];
  if (advice === undefined) return error;
  // The message of the package `mariadb` has the statement in it, too.
  const { message, sqlMessage } = error as { message: string; sqlMessage?: string | null };
  return refusal(backend, sqlMessage ?? message, advice, error);
}

export const refusal = (backend: string, what: string, advice: string, cause?: unknown): LockError =>
  new LockError('LOCK_UNAVAILABLE', `${backend} refused: ${what}. What to do: ${advice}`, { backend, cause });
