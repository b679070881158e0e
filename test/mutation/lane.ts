import type { Mutant } from './mutant.ts';
import type { Result } from './results.ts';

/** Mutants that are run in one way. */
export interface Lane {
  readonly name: string;
  readonly mutants: readonly Mutant[];
  /** @param slots how many are judged at a time @returns tests that are left out, and why */
  prepare(slots: number): Promise<readonly string[]>;
  /** @param slot from 0; one at a time in each @returns undefined where it cannot be told */
  judge(mutant: Mutant, slot: number): Promise<Result | undefined>;
  end(): Promise<void>;
}
