import { half } from '../fleet.ts';
import type { HandOver, Row } from './matrix.ts';
import type { Peer } from './peers.ts';

const COLUMNS = [
  'program',
  'version',
  'refused while we hold; in after our release',
  'we are refused while it holds; in after its release',
  'let in beside a renewing holder',
  'in after our death; we after its',
  'enters again',
  'race: our sections, theirs, overlaps',
  'a free lock of ours, taken and released',
];

export const HEAD = `| ${COLUMNS.join(' | ')} |\n|${' --- |'.repeat(COLUMNS.length)}`;

const ms = (time: number): string => `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`;
const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
const handed = ({ refused, took }: HandOver, rounds: number): string =>
  `${refused} of ${rounds}; ${ms(half([...took]))}`;

const racersOf = ({ race, ourSections, theirSections }: Row): string =>
  `${race / 1_000} s, ${ourSections.length} and ${theirSections.length} processes`;

/** A line of the table in Markdown. */
export function lineOf({ title, version, renews }: Peer, row: Row): string {
  const cells = [
    title,
    version,
    handed(row.weHold, row.rounds),
    handed(row.theyHold, row.rounds),
    `${row.besideUs + row.besideThem} times${renews === 'never' ? '; it cannot renew' : ''}`,
    `${ms(row.weDied.sinceKill)}; ${ms(row.theyDied.sinceKill)}`,
    row.theyReenter ? 'yes' : 'no',
    `${racersOf(row)}: ${sum(row.ourSections)}, ${sum(row.theirSections)}, ${row.overlaps}`,
    ms(row.idle),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** The page, with these rows in the place of older ones of the same peers. */
export function pageOf(before: string, lines: readonly string[], order: readonly Peer[], ranOn: string): string {
  const titleOf = (line: string): string => line.split(' | ')[0]!.replace('| ', '');
  const known = new Map([...before.split('\n'), ...lines].map((line) => [titleOf(line), line]));
  const rows = order.flatMap(({ title }) => known.get(title) ?? []);
  return `# Other programs on one lock

Written by \`npm run prove -- peers --page\`. Processes of each program, from its registry, and processes of ours, over
[plain Redis](../backends/redis-plain.md), take the same key; a referee at another server counts the sections that
overlap. Last written on ${ranOn}.

Times are medians. A busy machine makes all of them longer: the last column says what a lock costs there that nobody else wants.

${[HEAD, ...rows].join('\n')}
`;
}
