import type { Row, Sample, Target } from './row.ts';

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.slice(Math.floor((sorted.length - 1) / 2), Math.floor(sorted.length / 2) + 1);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/** What the entries of a row measured in one round. */
export type Round = Readonly<Record<string, Sample>>;

export interface Verdict {
  readonly what: string;
  readonly value: number;
  /** Lowest and highest of the rounds. */
  readonly range: readonly [number, number];
  readonly met: boolean;
}

const met = ({ atLeast = -Infinity, atMost = Infinity }: Target, value: number): boolean =>
  value >= atLeast && value <= atMost;

export const verdicts = (row: Row, rounds: readonly Round[]): Verdict[] =>
  row.targets.map((target) => {
    const values = rounds.map((round) => target.value((entry, figure) => round[entry]?.[figure] ?? Number.NaN));
    const value = median(values);
    return { what: target.what, value, range: [Math.min(...values), Math.max(...values)], met: met(target, value) };
  });

/** The median of each figure over the rounds. */
export function medians(rounds: readonly Round[], entry: string): Sample {
  const samples = rounds.map((round) => round[entry] ?? {});
  const names = Object.keys(samples[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(samples.map((sample) => sample[name] ?? Number.NaN))]));
}
