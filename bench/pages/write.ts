/** Puts figures into pages: each table is between two comments that name it. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Figures } from './figures.ts';
import { type Cell, type Shown, shownIn, type Table, tables } from './tables.ts';

const root = new URL('../../', import.meta.url);

function text(cell: Cell, figures: Figures): string {
  if (typeof cell === 'string') return cell;
  if ('row' in cell) return number(cell, figures);
  return cell.map((part) => text(part, figures)).join('');
}

function number({ row, entry, figure, as }: Shown, figures: Figures): string {
  const value = figures[row]?.entries[entry]?.[figure];
  if (value === undefined) throw new Error(`bench/figures.json has no ${figure} of ${entry} in the row ${row}`);
  return as(value);
}

/** The table in Markdown, with the day or days of its figures. */
export function rendered(table: Table, figures: Figures): string {
  const line = (cells: readonly string[]) => `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`;
  const days = [...new Set(shownIn(table).map(({ row }) => figures[row]?.date ?? ''))].sort();
  return [
    line(table.head),
    line(table.head.map(() => '---')),
    ...table.lines.map((cells) => line(cells.map((cell) => text(cell, figures)))),
    '',
    table.measured ? `${table.measured}${days.join('、')}。` : `Measured on ${days.join(' and ')}.`,
  ].join('\n');
}

/** The page with its tables as the figures have them. @throws Error where the page has no place for one */
export function withTables(page: string, contents: string, figures: Figures): string {
  let made = contents;
  for (const [name, table] of Object.entries(tables).filter(([, table]) => table.page === page)) {
    const place = new RegExp(`(<!-- figures: ${name} -->\\n).*?(\\n<!-- end -->)`, 's');
    if (!place.test(made)) throw new Error(`${page} has no place for the table ${name}`);
    made = made.replace(place, (_, begin, end) => `${begin}\n${rendered(table, figures)}\n${end}`);
  }
  return made;
}

export const pages: readonly string[] = [...new Set(Object.values(tables).map(({ page }) => page))];

export function writePages(figures: Figures): void {
  for (const page of pages) {
    const file = new URL(page, root);
    writeFileSync(file, withTables(page, readFileSync(file, 'utf8'), figures));
  }
}
