import { createHash } from 'node:crypto';
import type { Mutant } from './mutant.ts';

/** So many of them, as if drawn: the same for the same seed, and a larger sample has the smaller one in it. Pure. */
export function sample(mutants: readonly Mutant[], size: number, seed: string): readonly Mutant[] {
  const lot = ({ id }: Mutant): string => createHash('sha1').update(`${seed} ${id}`).digest('hex');
  const drawn = new Set(
    mutants
      .map((mutant) => [lot(mutant), mutant] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, size)
      .map(([, mutant]) => mutant),
  );
  return mutants.filter((mutant) => drawn.has(mutant));
}
