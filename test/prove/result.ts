/** What came of a part, as it is kept between runs. */
export interface Result {
  readonly part: string;
  /** A name for the sources it ran on: `nameOfSources` or `nameOfLock`. */
  readonly sources: string;
  readonly date: string;
  readonly seconds: number;
  readonly code: number | null;
  /** It was ended before its time: `lines` are those of the runs that were over. */
  readonly interrupted?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: each program has lines of its own.
  readonly lines: readonly any[];
  /** The page has it. */
  readonly onPage?: boolean;
  /** How many tests passed and failed, where it ran some. */
  readonly printed: string;
}

export const wholeRounds = (results: readonly Result[]): number =>
  results.filter(({ interrupted }) => !interrupted).length;

/**
 * What a part has to run in a round, after these results; undefined if it has run. Pure.
 * @returns the number of the next seeds, which no result has used, and the seconds that the interrupted runs of this round took
 */
export function restOf(results: readonly Result[], round: number): { seeds: number; spent: number } | undefined {
  if (wholeRounds(results) >= round) return undefined;
  const interrupted = results.slice(results.findLastIndex((each) => !each.interrupted) + 1);
  return { seeds: results.length + 1, spent: interrupted.reduce((sum, { seconds }) => sum + seconds, 0) };
}
