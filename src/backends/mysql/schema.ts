import type { Finding } from '../../core/backend.ts';
import type { Row } from './pool.ts';
import { shape } from './sql.generated.ts';
import type { Table } from './table.ts';

/** What setup.sql makes. Of whole numbers old servers tell a width as well, which means nothing. */
const MADE = ['name varbinary(600) NO PRI', 'ticket bigint unsigned NO ', 'used bigint NO ', 'line mediumblob NO '].map(
  (column) => `${column} InnoDB`,
);

const textOf = ({ name, type, nullable, part, engine }: Row): string =>
  `${name} ${String(type).replace(/^bigint\(\d+\)/, 'bigint')} ${nullable} ${part} ${engine}`;

/** Whether somebody made or changed the table in another way: as MyISAM, for one, it keeps nothing that was interrupted. */
export async function shapeFindings(table: Table): Promise<Finding[]> {
  const columns = (await table.read(shape, table.address)).map(textOf);
  if (columns.length === 0 || MADE.every((column) => columns.includes(column))) return [];
  const missing = MADE.filter((column) => !columns.includes(column));
  const message = `the table is not as setup() makes it: it has no column ${missing.map((column) => JSON.stringify(column)).join(', ')}`;
  const advice =
    'while nobody locks, drop it and let setup() make it anew: tokens then begin again, so use another table where they are checked';
  return [{ severity: 'danger', code: 'table-shape', message, advice }];
}
