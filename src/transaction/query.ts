import { invalid, isLockError, LockError, shown } from '../core/errors.ts';
import type { Dialect, DialectName } from './dialect.ts';

/**
 * Runs one statement inside the caller's transaction and gives what the driver gives: pg's result, mysql2's pair, or the
 * rows of postgres.js. A function that takes values of any type will do: which ones, only the driver knows.
 */
export type Query = (sql: string, params: never[]) => Promise<unknown>;

/** A row, or some of its columns, by their names. */
export type Row = Readonly<Record<string, unknown>>;

/** As many as there are, in whatever form they come. */
export function rowsOf(result: unknown): unknown[] {
  const { rows: ofResult, records } = (result ?? {}) as { rows?: unknown; records?: unknown };
  const rows = Array.isArray(result)
    ? Array.isArray(result[0])
      ? result[0] // mysql2, Sequelize: rows, and what is said about them
      : result
    : (ofResult ?? records); // pg and Kysely; TypeORM's structured result
  if (!Array.isArray(rows)) throw invalid('query did not give rows: let it return what the driver returns');
  return rows;
}

/** @throws LockError `LOCK_INVALID` for rows without names: they would be read as if nothing were in them */
export function recordsOf(result: unknown): Row[] {
  const rows = rowsOf(result);
  const [first = {}] = rows;
  if (typeof first === 'object' && first !== null && !Array.isArray(first)) return rows as Row[];
  throw invalid("query gave rows as arrays: leave out rowsAsArray (mysql2) or rowMode: 'array' (pg)");
}

/** By which names libraries say how many rows were changed: pg and Sequelize, mysql2, postgres.js, Kysely, TypeORM. */
const COUNTS = ['rowCount', 'affectedRows', 'count', 'numAffectedRows', 'affected'] as const;

/** @throws LockError `LOCK_INVALID` where the result does not say */
export function changedBy(result: unknown): number {
  const changed = countOf(result);
  if (changed === undefined) {
    throw invalid('query did not say how many rows were changed: let it return what the driver returns');
  }
  return changed;
}

function countOf(result: unknown): number | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  for (const name of COUNTS) {
    const count = (result as Readonly<Record<string, unknown>>)[name];
    if (typeof count === 'number' || typeof count === 'bigint') return Number(count);
  }
  if (!Array.isArray(result)) return undefined;
  const [first, second] = result;
  if (Array.isArray(first) && typeof second === 'number') return second; // TypeORM on PostgreSQL: rows and their number
  return countOf(first) ?? countOf(second); // mysql2: the header comes first; Sequelize on PostgreSQL: second
}

/** @throws LockError `LOCK_INVALID` when what runs the statements of `taker` is no function */
export function checkQuery(query: unknown, taker: string): void {
  if (typeof query !== 'function') {
    throw invalid(`${taker}() needs a function that runs a statement in your transaction, not ${shown(query)}`);
  }
}

/** @throws LockError `LOCK_INVALID` when `columns` is not an object of them */
export function columnsOf(columns: Row, what: string): [string, unknown][] {
  if (typeof columns === 'object' && columns !== null) return Object.entries(columns);
  throw invalid(`${what} is ${shown(columns)}; it must be an object of columns and their values`);
}

/** A statement that is being put together: names are checked and quoted, values become parameters. */
export class Text {
  /** What the caller gave, for the caller's own function to take. */
  readonly params: never[] = [];
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** @throws LockError `LOCK_INVALID` */
  name(name: string): string {
    const { quote } = this.#dialect;
    if (typeof name !== 'string' || !/^[A-Za-z_]\w{0,62}(\.[A-Za-z_]\w{0,62})?$/.test(name)) {
      throw invalid(
        `${shown(name)} is not the name of a table or column: letters, digits and _, at most 63, and one dot`,
      );
    }
    return name
      .split('.')
      .map((part) => quote + part + quote)
      .join('.');
  }

  /** @throws LockError `LOCK_INVALID` for undefined, which drivers take for NULL: no row has it, and a row would get it */
  value(value: unknown): string {
    if (value === undefined) throw invalid('a value is undefined; null stands for NULL');
    this.params.push(value as never);
    return this.#dialect.mark(this.params.length);
  }

  /** ` WHERE …`: every column is as given; null is null. */
  where(columns: Row): string {
    const terms = columnsOf(columns, 'where').map(([name, value]) =>
      value === null ? `${this.name(name)} IS NULL` : `${this.name(name)} = ${this.value(value)}`,
    );
    return terms.length > 0 ? ` WHERE ${terms.join(' AND ')}` : '';
  }
}

/**
 * What is there already. MySQL has no IF NOT EXISTS for an index (1061); that of PostgreSQL looks only at the start, and then
 * trips over whoever makes the same at that moment, in one of three ways.
 */
const THERE = ['1061', '42P07', '42710', '23505'];

/** How deep libraries wrap what the driver threw. */
const DEPTH = 5;

/**
 * What the server calls the error: its number or SQLSTATE, of the driver's own error, or of that which a library has wrapped: as its
 * `cause` (Drizzle and most others), `parent` (Sequelize) or `driverError` (TypeORM).
 */
export function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < DEPTH; depth++) {
    const { code, errno, cause, parent, driverError } = at as Readonly<Record<string, unknown>>;
    codes.push(...[errno, code].filter((value) => value !== undefined).map(String));
    at = cause ?? parent ?? driverError;
  }
  return codes;
}

/** A table or index is there afterwards, whoever made it. */
export async function made(creation: Promise<unknown>): Promise<void> {
  await creation.catch((error: unknown) => {
    if (!codesOf(error).some((code) => THERE.includes(code))) throw error;
  });
}

/** What the server's word for it is in ours; other errors stay as they are. */
export function mapped(error: unknown, dialect: Dialect, backend: DialectName, what: string): unknown {
  if (isLockError(error)) return error;
  const ours = codesOf(error)
    .map((code) => dialect.errors[code])
    .find(Boolean);
  if (!ours) return error;
  const advice = {
    LOCK_TIMEOUT: 'others have the row locked; roll back, or try again later',
    LOCK_DEADLOCK: 'two transactions waited for each other; roll back and begin anew, and lock rows in one order',
  }[ours as 'LOCK_TIMEOUT' | 'LOCK_DEADLOCK'];
  return new LockError(ours, `${what} on ${backend}: ${advice}`, { backend, cause: error });
}
