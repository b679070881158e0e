import type { Mutant } from './mutant.ts';
import type { Result } from './results.ts';

export interface Row {
  readonly of: string;
  readonly mutants: number;
  readonly killed: number;
  readonly survived: number;
  readonly equivalent: number;
  readonly unrun: number;
}

/** Of every hundred that were run, without those that are equivalent. */
export const rate = ({ killed, survived }: Row): string =>
  killed + survived === 0 ? '-' : `${((100 * killed) / (killed + survived)).toFixed(1)} %`;

/** Of a normal distribution, 95 of 100 lie above so many deviations below its middle. */
const DEVIATIONS = 1.645;

/**
 * What a sample says of all that it was drawn from: the share that is killed is at least this, 95 times of 100 (Wilson's bound).
 * In percent. Pure.
 */
export function atLeast(killed: number, survived: number): number {
  const judged = killed + survived;
  if (judged === 0) return 0;
  const share = killed / judged;
  const squared = DEVIATIONS ** 2;
  const spread = DEVIATIONS * Math.sqrt((share * (1 - share)) / judged + squared / (4 * judged ** 2));
  return (100 * (share + squared / (2 * judged) - spread)) / (1 + squared / judged);
}

/** The rows of a sample as one line, which says how much of what it saw. Pure. */
export function sampledLine(lane: string, own: readonly Row[], of: number): string {
  const sum = (what: 'killed' | 'survived'): number => own.reduce((all, row) => all + row[what], 0);
  const [killed, survived] = [sum('killed'), sum('survived')];
  const share = killed + survived === 0 ? '-' : `${((100 * killed) / (killed + survived)).toFixed(1)} %`;
  return `${lane}: drawn at random, ${killed + survived} of ${of} judged: ${share} killed, of all at least ${atLeast(killed, survived).toFixed(1)} %`;
}

/** A row for each folder, or for each file. Pure but for what it is given. */
export function rows(
  mutants: readonly Mutant[],
  results: { get(id: string): Pick<Result, 'verdict'> | undefined },
  by: 'folder' | 'file',
  isEquivalent: (id: string) => boolean = () => false,
): Row[] {
  const groups = Map.groupBy(mutants, ({ file }) => (by === 'file' ? file : file.replace(/\/[^/]*$/, '')));
  return [...groups].map(([of, own]) => {
    const counted = own.map(({ id }) => {
      const verdict = results.get(id)?.verdict ?? 'unrun';
      return verdict !== 'killed' && isEquivalent(id) ? 'equivalent' : verdict;
    });
    const count = (...verdicts: string[]): number => counted.filter((verdict) => verdicts.includes(verdict)).length;
    return {
      ...{ of, mutants: own.length, killed: count('killed'), survived: count('survived', 'unreached') },
      ...{ equivalent: count('equivalent'), unrun: count('unrun') },
    };
  });
}

export function printed(all: readonly Row[]): string {
  const lines = all.map((row) =>
    [row.of, row.mutants, row.killed, row.survived, row.equivalent, row.unrun, rate(row)].map(String),
  );
  const table = [['of', 'mutants', 'killed', 'survived', 'equivalent', 'not run', 'killed of the others'], ...lines];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((line) => line[column]!.length)));
  return table
    .map((line) => line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '))
    .join('\n');
}
