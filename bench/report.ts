import Table from 'cli-table3';
import type { Row } from './row.ts';
import { median, medians, type Round, type Verdict, verdicts } from './verdict.ts';

export const shown = (value: number): string =>
  Number.isNaN(value) ? '–' : value >= 100 ? Math.round(value).toLocaleString('en') : `${Number(value.toPrecision(3))}`;

export interface Result {
  readonly row: Row;
  readonly rounds: readonly Round[];
}

const wanted = ({ atLeast, atMost }: Row['targets'][number]): string =>
  atLeast !== undefined ? `≥ ${shown(atLeast)}` : `≤ ${shown(atMost ?? Number.NaN)}`;

/** The table of targets: what was wanted, what was measured, and in which range. */
export function targetsTable(results: readonly Result[]): string {
  const table = new Table({ head: ['', 'target', 'measured', 'rounds', ''], style: { head: [], border: [] } });
  for (const { row, rounds } of results) {
    const judged = verdicts(row, rounds);
    for (const [i, { what, value, range, met }] of judged.entries()) {
      const title = i === 0 ? `${row.group}: ${row.title}` : '';
      const of = `${shown(range[0])} to ${shown(range[1])}`;
      table.push([title, `${wanted(row.targets[i]!)} ${what}`, shown(value), of, met ? 'met' : 'MISSED']);
    }
  }
  return table.toString();
}

/** What each entry of a row measured, in one line each. */
export function figures({ row, rounds }: Result): string {
  const pace = (round: Round, name: string): number => round[name]?.perSecond ?? Number.NaN;
  return row.entries
    .map(({ name }) => {
      const sample = Object.entries(medians(rounds, name)).map(([figure, value]) => `${figure} ${shown(value)}`);
      if (row.floor) {
        const times = median(rounds.map((round) => pace(round, name) / pace(round, row.floor!)));
        sample.unshift(`${shown(times)} × ${row.floor}`);
      }
      return `  ${name.padEnd(24)} ${sample.join(', ')}`;
    })
    .join('\n');
}

const WIDEST = 40;

/** One figure of all entries as bars, for rows that are about how it grows. */
export function bars({ row, rounds }: Result, figure: string): string {
  const values = row.entries.map(({ name }) => medians(rounds, name)[figure] ?? 0);
  const most = Math.max(...values);
  const lines = row.entries.map(({ name }, i) => {
    const bar = '█'.repeat(Math.max(1, Math.round((WIDEST * values[i]!) / most)));
    return `  ${name.padEnd(22)} ${shown(values[i]!).padStart(8)}  ${bar}`;
  });
  return lines.join('\n');
}

export const json = (results: readonly Result[]): object[] =>
  results.map(({ row, rounds }) => ({
    group: row.group,
    title: row.title,
    targets: verdicts(row, rounds) satisfies Verdict[],
    rounds,
  }));
