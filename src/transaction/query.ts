import { checkGiven, invalid, isLockError, LockError, type OptionNames, shown } from '../core/index.ts';

/** Which SQL a database speaks. */
export type DialectName = 'postgres' | 'mysql' | 'mariadb';

/** The differences between the servers, as data. */
export interface Dialect {
  readonly name: DialectName;
  readonly quote: string;
  /** The nth placeholder, from 1. */
  readonly mark: (n: number) => string;
  /** How only one of several callers inserts a row. */
  readonly keep: {
    /** Ends an INSERT, so that the INSERT returns a row only if it made one. Empty: a second INSERT fails, but the transaction goes on. */
    readonly unlessThere: string;
    /** The end of a SELECT that reads what was committed last, even in a transaction with an older snapshot. */
    readonly latest: string;
    /** Whether bytes are sent and read in hex: so they are the same under every character set of the connection. */
    readonly hex: boolean;
  };
  /** Meanings of errors, by SQLSTATE or error number. */
  readonly errors: Readonly<Record<string, 'LOCK_TIMEOUT' | 'LOCK_DEADLOCK'>>;
}

/** MySQL and MariaDB: ER_LOCK_WAIT_TIMEOUT, NOWAIT, ER_QUERY_TIMEOUT, and ER_STATEMENT_TIMEOUT of MariaDB. */
const TIMEOUTS = { 1205: 'LOCK_TIMEOUT', 3572: 'LOCK_TIMEOUT', 3024: 'LOCK_TIMEOUT', 1969: 'LOCK_TIMEOUT' } as const;

const ofMysql = (name: DialectName): Dialect => ({
  name,
  quote: '`',
  mark: () => '?',
  // Not INSERT IGNORE, which would also ignore other errors.
  keep: { unlessThere: '', latest: ' LOCK IN SHARE MODE', hex: true },
  errors: { ...TIMEOUTS, 1213: 'LOCK_DEADLOCK' },
});

const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  postgres: {
    name: 'postgres',
    quote: '"',
    mark: (n) => `$${n}`,
    keep: { unlessThere: ' ON CONFLICT DO NOTHING RETURNING 1 AS made', latest: '', hex: false },
    // 57014 (a cancelled statement) is not here: a limit of the caller may be the reason, too. Only `lockRow` knows which limit it was.
    errors: { '55P03': 'LOCK_TIMEOUT', '40P01': 'LOCK_DEADLOCK' },
  },
  mysql: ofMysql('mysql'),
  mariadb: ofMysql('mariadb'),
};

/** @throws LockError `LOCK_INVALID` */
export function dialectOf(name: DialectName): Dialect {
  if (Object.hasOwn(DIALECTS, name)) return DIALECTS[name];
  throw invalid(`dialect is ${shown(name)}; it must be one of ${Object.keys(DIALECTS).join(', ')}`);
}

/**
 * Runs one statement inside your transaction and returns what the driver returns: pg's result, mysql2's pair, or the rows of
 * postgres.js. Parameters may have any type that the driver takes.
 */
export type Query = (sql: string, params: never[]) => Promise<unknown>;

/** The columns of a row, by their names. */
export type Row = Readonly<Record<string, unknown>>;

/** Reads the rows of a result of any driver. */
export function rowsOf(result: unknown): unknown[] {
  const { rows: ofResult, records } = (result ?? {}) as { rows?: unknown; records?: unknown };
  const rows = Array.isArray(result)
    ? Array.isArray(result[0])
      ? result[0] // mysql2, Sequelize: the rows come first
      : result
    : (ofResult ?? records); // pg and Kysely; TypeORM's structured result
  if (!Array.isArray(rows)) throw invalid('query did not give rows: let it return what the driver returns');
  return rows;
}

/** @throws LockError `LOCK_INVALID` for rows that are arrays: their columns have no names */
export function recordsOf(result: unknown): Row[] {
  const rows = rowsOf(result);
  const [first = {}] = rows;
  if (typeof first === 'object' && first !== null && !Array.isArray(first)) return rows as Row[];
  throw invalid("query gave rows as arrays: leave out rowsAsArray (mysql2) or rowMode: 'array' (pg)");
}

/** The names for the number of changed rows in pg and Sequelize, mysql2, postgres.js, Kysely, TypeORM. */
const COUNTS = ['rowCount', 'affectedRows', 'count', 'numAffectedRows', 'affected'] as const;

/** Reads how many rows were changed. @throws LockError `LOCK_INVALID` if the result does not show it */
export function changedRows(result: unknown): number {
  const changed = countOf(result);
  if (changed !== undefined) return changed;
  throw invalid('query did not say how many rows were changed: let it return what the driver returns');
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

/** Checks the arguments of the function `taker`. @throws LockError `LOCK_INVALID` */
export function checkCall(
  taker: string,
  query: unknown,
  options: { readonly dialect: DialectName },
  known: OptionNames,
): Dialect {
  if (typeof query !== 'function')
    throw invalid(`${taker}() needs a function that runs a statement in your transaction, not ${shown(query)}`);
  checkGiven(options, known, `the options of ${taker}`);
  return dialectOf(options.dialect);
}

/** @throws LockError `LOCK_INVALID` if `columns` is no object */
export function columnsOf(columns: Row, what: string): [string, unknown][] {
  if (typeof columns === 'object' && columns !== null) return Object.entries(columns);
  throw invalid(`${what} is ${shown(columns)}; it must be an object of columns and their values`);
}

/** Builds a statement: checks and quotes names, and makes parameters of values. */
export class Text {
  /** The caller's values, in the order of their placeholders. */
  readonly params: never[] = [];
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** @throws LockError `LOCK_INVALID` */
  name(name: string): string {
    const { quote } = this.#dialect;
    if (typeof name === 'string' && /^[A-Za-z_]\w{0,62}(\.[A-Za-z_]\w{0,62})?$/.test(name))
      return name.replace(/\w+/g, (part) => quote + part + quote);
    throw invalid(
      `${shown(name)} is not the name of a table or column: letters, digits and _, at most 63, and one dot`,
    );
  }

  /** @throws LockError `LOCK_INVALID` for undefined, which drivers take for NULL: then no row would match, or NULL would be stored */
  value(value: unknown): string {
    if (value === undefined) throw invalid('a value is undefined; null stands for NULL');
    const hex = this.#dialect.keep.hex && Buffer.isBuffer(value);
    this.params.push((hex ? value.toString('hex') : value) as never);
    const mark = this.#dialect.mark(this.params.length);
    return hex ? `UNHEX(${mark})` : mark;
  }

  names(names: readonly string[]): string {
    return names.map((name) => this.name(name)).join(', ');
  }

  /** Makes ` WHERE …`: each column has the given value; null means IS NULL. */
  where(columns: Row): string {
    const terms = columnsOf(columns, 'where').map(([name, value]) =>
      value === null ? `${this.name(name)} IS NULL` : `${this.name(name)} = ${this.value(value)}`,
    );
    return terms.length > 0 ? ` WHERE ${terms.join(' AND ')}` : '';
  }
}

/**
 * The codes for a table or index that exists already. MySQL has no IF NOT EXISTS for an index (1061). PostgreSQL looks for the table or
 * index only at the start of the statement. If another process makes it after that, the statement fails with one of the other three codes.
 */
const THERE = ['1061', '42P07', '42710', '23505'];

/** How many levels deep we look for the driver's error. */
const DEPTH = 5;
const CODES = ['errno', 'originalCode', 'code'];
/** Where libraries put the driver's error: Drizzle and most others, Sequelize, TypeORM, and two of Prisma. */
const WRAPPERS = ['cause', 'parent', 'driverError', 'meta', 'driverAdapterError'];

/** Reads the server's codes of an error, a number or SQLSTATE, even if a library has wrapped the driver's error. */
export function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < DEPTH; depth++) {
    const wrapped = at as Readonly<Record<string, unknown>>;
    for (const name of CODES) if (wrapped[name] !== undefined) codes.push(String(wrapped[name]));
    at = WRAPPERS.map((name) => wrapped[name]).find(Boolean);
  }
  return codes;
}

/** Resolves if the table or index exists, even if another process made it. */
export async function waitUntilMade(creation: Promise<unknown>): Promise<void> {
  await creation.catch((error: unknown) => {
    if (!codesOf(error).some((code) => THERE.includes(code))) throw error;
  });
}

const ADVICE = {
  LOCK_TIMEOUT: 'others have the row locked; roll back, or try again later',
  LOCK_DEADLOCK: 'two transactions waited for each other; roll back and begin again, and lock rows in one order',
} as const;

/** Makes a `LockError` of the server's lock errors; other errors stay as they are. @param what names the work of `act`, for messages */
export async function translated<T>({ name, errors }: Dialect, what: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const [ours] = codesOf(error).flatMap((code) => errors[code] ?? []);
    if (isLockError(error) || !ours) throw error;
    throw new LockError(ours, `${what} on ${name}: ${ADVICE[ours]}`, { backend: name, cause: error });
  }
}
