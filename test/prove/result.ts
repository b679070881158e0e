/** What came of a part, as it is kept between runs. */
export interface Result {
  readonly part: string;
  /** A name for the sources it ran on: `nameOfSources`. */
  readonly sources: string;
  readonly date: string;
  readonly seconds: number;
  readonly code: number | null;
  // biome-ignore lint/suspicious/noExplicitAny: each program has lines of its own.
  readonly lines: readonly any[];
  /** How many tests passed and failed, where it ran some. */
  readonly printed: string;
}
