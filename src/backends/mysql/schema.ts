import type { Finding } from '../../core/contract/backend.ts';
import { shown } from '../../core/contract/errors.ts';
import type { Row } from './connection.ts';
import { isNoTable, refusal } from './errors.ts';
import { LeftOpen } from './left-open.ts';
import { found, greet, setup, shape } from './sql.generated.ts';
import type { Values } from './statements.ts';

/** What is asked of a table before it is used. */
interface NewTable {
  readonly name: string;
  readonly backend: string;
  readonly address: { readonly database: string; readonly relation: string };
  read(text: string, values?: Values): Promise<Row[]>;
  write(text: string, values?: Values): Promise<unknown>;
  make(text: string): Promise<unknown>;
}

/**
 * The format of the lines in the table. Nothing else is stored: each process brings its own statements, so no old version must be
 * replaced. Versions of one format lock together. A version that writes another format must take a table of another name, and never
 * change this one in place: a process looks at the format only once.
 */
const FORMAT = 'holdfast 1';

/** Looks at the table before anything else is asked of it, and makes it where it is missing. @throws LockError `LOCK_UNAVAILABLE` */
export async function open(table: NewTable): Promise<void> {
  const row = await ownRow(table).catch((error) => {
    // This is the first session of the pool that we see. Most likely all are like it, so another try would not help.
    if (!(error instanceof LeftOpen) || error.what !== 'autocommit off') throw error;
    throw refusal(table.backend, 'a session of the pool does not commit by itself', 'leave autocommit on', error);
  });
  const format = String(row?.format);
  if (format === FORMAT) return;
  const advice = 'let all processes use the same version of holdfast, or give this one a table of its own';
  throw refusal(table.backend, `the table ${table.name} has the format ${shown(format)}, not ${FORMAT}`, advice);
}

/** The row of the table that is for itself; made where there is none. */
async function ownRow(table: NewTable): Promise<Row | undefined> {
  const known = await table.read(greet).catch((error) => {
    if (isNoTable(error.cause)) return [];
    throw error;
  });
  if (known.length > 0) return known[0];
  await table.make(setup);
  await table.write(found, { format: FORMAT });
  return (await table.read(greet))[0];
}

/** The columns that `setup` makes. Old servers give whole numbers a width as well, which means nothing. */
const MADE = ['name varbinary(600) NO PRI', 'token bigint unsigned NO ', 'used bigint NO ', 'line mediumblob NO '].map(
  (column) => `${column} InnoDB`,
);

const textOf = ({ name, type, nullable, part, engine }: Row): string =>
  `${name} ${String(type).replace(/^bigint\(\d+\)/, 'bigint')} ${nullable} ${part} ${engine}`;

/** Whether somebody made or changed the table in another way. As MyISAM, for example, it cannot undo what was interrupted. */
export async function shapeFindings(table: NewTable): Promise<Finding[]> {
  const columns = (await table.read(shape, table.address)).map(textOf);
  if (columns.length === 0 || MADE.every((column) => columns.includes(column))) return [];
  const missing = MADE.filter((column) => !columns.includes(column));
  const message = `the table is not as setup() makes it: it has no column ${missing.map((column) => JSON.stringify(column)).join(', ')}`;
  const advice =
    'while nobody locks, drop it and let setup() make it anew: tokens then begin again, so use another table where they are checked';
  return [{ severity: 'danger', code: 'table-shape', message, advice }];
}
