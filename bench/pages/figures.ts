/** The figures that pages show: the medians of each row that was published last, with the day. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Result } from '../report.ts';
import { median, medians } from '../verdict.ts';
import { shownIn, tables } from './tables.ts';

export interface Published {
  /** The day of the measurement, in UTC. */
  readonly date: string;
  /** Of each entry of the row; `times` is its pace over that of the row's floor. */
  readonly entries: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** By `group: title` of the row. */
export type Figures = Readonly<Record<string, Published>>;

const place = new URL('../figures.json', import.meta.url);

export const readFigures = (): Figures => JSON.parse(readFileSync(place, 'utf8'));

export const writeFigures = (figures: Figures): void =>
  writeFileSync(place, `${JSON.stringify(figures, undefined, 2)}\n`);

const rounded = (value: number): number => Number(value.toPrecision(4));

const nameOf = ({ row }: Result): string => `${row.group}: ${row.title}`;

/** The figures of each entry; without those of what did not happen in the time, which are no numbers. */
function entriesOf({ row, rounds }: Result): Published['entries'] {
  const { floor } = row;
  const entries = row.entries.map(({ name }) => {
    const pace = (entry: string) => rounds.map((round) => round[entry]?.perSecond ?? Number.NaN);
    const floors = floor === undefined ? [] : pace(floor);
    const times = floor === undefined ? {} : { times: median(pace(name).map((own, i) => own / floors[i]!)) };
    const numbers = Object.entries({ ...times, ...medians(rounds, name) }).filter(([, value]) =>
      Number.isFinite(value),
    );
    return [name, Object.fromEntries(numbers.map(([figure, value]) => [figure, rounded(value)]))] as const;
  });
  return Object.fromEntries(entries);
}

const shown = Object.values(tables).flatMap(shownIn);
/** Whether there is all of it that a page shows. */
const isWhole = (result: Result): boolean => {
  const entries = entriesOf(result);
  return shown.every(({ row, entry, figure }) => row !== nameOf(result) || entries[entry]?.[figure] !== undefined);
};

/** What was measured takes the place of what was published of the same rows before, if there is all that a page shows. */
export function withResults(figures: Figures, results: readonly Result[], date: string): Figures {
  const measured = results
    .filter(isWhole)
    .map((result) => [nameOf(result), { date, entries: entriesOf(result) }] as const);
  return { ...figures, ...Object.fromEntries(measured) };
}

/** The rows in which something that a page shows did not happen in the time. */
export const leftAsTheyWere = (results: readonly Result[]): string[] =>
  results.filter((result) => !isWhole(result)).map(nameOf);
