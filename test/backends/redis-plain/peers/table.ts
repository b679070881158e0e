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
];

export const HEAD = `| ${COLUMNS.join(' | ')} |\n|${' --- |'.repeat(COLUMNS.length)}`;

const ms = (time: number): string => `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`;
const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
const handed = ({ refused, took }: HandOver, rounds: number): string =>
  `${refused} of ${rounds}; ${ms(half([...took]))}`;

/** A line of the table in Markdown. */
export function lineOf({ title, version }: Peer, row: Row): string {
  const cells = [
    title,
    version,
    handed(row.weHold, row.rounds),
    handed(row.theyHold, row.rounds),
    `${row.besideUs + row.besideThem} times`,
    `${ms(row.weDied.sinceKill)}; ${ms(row.theyDied.sinceKill)}`,
    row.theyReenter ? 'yes' : 'no',
    `${sum(row.ourSections)}, ${sum(row.theirSections)}, ${row.overlaps}`,
  ];
  return `| ${cells.join(' | ')} |`;
}
