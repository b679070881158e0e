import { LockError } from '../../core/index.ts';

const RIGHTS = 'grant this role what the PostgreSQL page of the documentation lists under rights';
const SET_UP =
  "run the backend's setup() once with a role that may create tables, or apply the SQL of the documentation";

/** Final refusals, without effect, by SQLSTATE: meaning and advice. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const DEFINITE: Readonly<Record<string, readonly [what: string, advice: string]>> = {
  '3D000': ['the database does not exist', 'create it, or correct the connection'],
  '3F000': ['the schema does not exist', SET_UP],
  '42P01': ['a table of holdfast does not exist', SET_UP],
  '42704': ['a type of holdfast does not exist', SET_UP],
  '42883': ['a function of holdfast does not exist', SET_UP],
  '42501': ['the role lacks a right', RIGHTS],
  '28000': ['the role was refused', 'correct the role or pg_hba.conf'],
  '28P01': ['the password was refused', 'correct the password'],
};

const sqlState = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');
const has =
  (...states: string[]) =>
  (error: unknown): boolean =>
    states.includes(sqlState(error));

/**
 * The server behind the connection takes no writes. After a fail-over that keeps the address, the old primary may keep its connections: only
 * a new connection leads to the new primary. The statement had no effect, and may be sent again.
 */
export const isReadOnly = has('25006');

/** The server undid the statement, since it conflicted with another transaction. It had no effect, and may be sent again. */
export const isConflict = has('40001', '40P01');
/** The prepared statement is missing on the connection, or is there already, as behind a transaction pooler. Send it again, without a name. */
export const isUnprepared = has('26000', '42P05');

/** The application had left a transaction open: it refused our COMMIT (2D000), or had failed before (25P02). Our statement had no effect. */
export const isForeign = has('2D000', '25P02');
/** The queue of NOTIFY is full: https://www.postgresql.org/docs/current/sql-notify.html. Nothing was committed. */
export const isFull = has('54000');
export const isNoRight = has('42501');
export const isMissing = has('3F000', '42P01', '42883');

export const unavailable = (backend: string, message: string, key?: string, cause?: unknown): LockError =>
  new LockError('LOCK_UNAVAILABLE', `${backend}: ${message}`, { backend, key, cause });

export const readOnly = (backend: string, asked: string, cause?: unknown): Error =>
  new Error(
    `${backend}: ${asked} was refused: the server is read-only, and the connection was given up. If it stays so: connect to the primary, for a replica cannot grant locks, and leave transactions read-write`,
    { cause },
  );

/** Makes a definite refusal a `LockError`. Any other error stays as it is, since its outcome is unknown. */
export function refusal(error: unknown, backend: string, asked: string, key?: string): unknown {
  if (isReadOnly(error)) return readOnly(backend, asked, error);
  const known = DEFINITE[sqlState(error)];
  return known ? unavailable(backend, `${asked} was refused: ${known[0]}; ${known[1]}`, key, error) : error;
}

/**
 * Other servers that speak PostgreSQL's protocol, by their `version()`. Amazon Aurora DSQL may not show its name there. DSQL has no sequences,
 * no procedures and no LISTEN, so it refuses setup(). Advisory locks silently do nothing on CockroachDB
 * (https://github.com/cockroachdb/cockroach/issues/13546), and on YugabyteDB with a certain setting
 * (https://github.com/yugabyte/yugabyte-db/issues/3642).
 */
const PRODUCTS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/CockroachDB/i, 'CockroachDB'],
  [/-YB-|YugabyteDB/i, 'YugabyteDB'],
  [/DSQL/i, 'Aurora DSQL'],
];

/** The name of another program that speaks the protocol; undefined for PostgreSQL. */
export const lookAlike = (version: unknown): string | undefined =>
  PRODUCTS.find(([mark]) => mark.test(String(version)))?.[1];
