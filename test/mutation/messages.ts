/** Between main.ts and its workers. Tests and mutants go by their numbers, which are the same in all processes. */
/** A test, and how long it takes without a mutant: of the day, and of a processor. */
export interface Told {
  readonly test: number;
  readonly ms: number;
  readonly cpu: number;
}

export type Order =
  | { readonly cover: number }
  /** One test with one mutant, and nothing to compare with. */
  | { readonly alone: Told; readonly with: number }
  /** With a mutant of a script, by its number, or without: several at a time, up to the first that fails, or all. */
  | { readonly together: readonly Told[]; readonly all: boolean; readonly script: number | undefined }
  | { readonly mutant: number; readonly tests: readonly Told[] };

export type Report =
  /** A sign of life, every second. */
  | { readonly alive: true }
  /** `unloadable`: files of tests that need more than there is here. */
  | { readonly tests: readonly string[]; readonly atLoad: readonly number[]; readonly unloadable: readonly string[] }
  | {
      readonly covered: number;
      readonly ms: number;
      readonly cpu: number;
      readonly reached: readonly number[];
      readonly failed?: string;
    }
  | Together
  | Verdict;

/** Those of several tests that failed twice, and how long each took, in ms. */
export interface Together {
  readonly failed: readonly { readonly test: number; readonly how: 'failed' | 'rejected' | 'time' }[];
  readonly took: Readonly<Record<number, number>>;
}

/** `unfit`: a test failed without the mutant, too, so this process is of no more use. */
export interface Verdict {
  readonly verdict: 'killed' | 'survived' | 'unfit';
  readonly by?: string;
  /** The test. */
  readonly test?: number;
  readonly how?: 'failed' | 'rejected' | 'time';
}
