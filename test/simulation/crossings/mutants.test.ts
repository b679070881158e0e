import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../kit/folder.ts';
import { plant } from '../../kit/planted.ts';
import { CROSSING_CHECKERS } from './checkers.ts';
import { CROSSING_MUTANTS, type CrossingMutant } from './mutants.ts';
import { SUBJECTS, simulateCrossing } from './simulate.ts';

/** How often all primitives and kinds of engine are gone through. */
const ENOUGH = 40;

function* seedsOf({ at: [one, other] }: CrossingMutant): Generator<number> {
  for (let round = 0; round < ENOUGH; round++)
    for (const [i, subject] of SUBJECTS.entries())
      if (subject.one === one && subject.other === other) yield round * SUBJECTS.length + i + 1;
}

describe('the simulation of crossings finds one that', () => {
  test.each(CROSSING_MUTANTS)('$bug', { timeout: 300_000 }, async (mutant) => {
    using folder = temporaryFolder();
    const { createLocks } = await plant(mutant.faults, folder.path);
    const checker = CROSSING_CHECKERS[mutant.foundBy];
    for (const seed of seedsOf(mutant))
      if (checker((await simulateCrossing(seed, createLocks)).history).length > 0) return;
    expect.fail(`${mutant.foundBy} found nothing where ${mutant.at.join(' and ')} meet`);
  });
});
