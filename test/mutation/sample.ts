import { createHash } from 'node:crypto';
import type { Mutant } from './mutant.ts';

/**
 * So many of them, as if drawn, in the order of the draw: the same for the same seed, and whoever gets no further than to a smaller
 * number has a sample of that size. Pure.
 */
export function sample(mutants: readonly Mutant[], size: number, seed: string): readonly Mutant[] {
  const lot = ({ id }: Mutant): string => createHash('sha1').update(`${seed} ${id}`).digest('hex');
  const lots = mutants.map((mutant) => ({ mutant, lot: lot(mutant) })).toSorted((a, b) => (a.lot < b.lot ? -1 : 1));
  return lots.slice(0, size).map(({ mutant }) => mutant);
}
