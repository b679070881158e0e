import { describe, expect, test } from 'vitest';
import { createLocks } from '../../src/index.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { plant } from '../kit/planted.ts';
import { CHECKERS } from './checkers.ts';
import { MUTANTS, type Mutant, QUORUM_MUTANTS } from './mutants.ts';
import { simulate } from './simulate.ts';

/** Schedules in which a planted bug must be found. */
const ENOUGH = 4_000;

function* seedsOf({ from = 1 }: Mutant): Generator<number> {
  for (let seed = from; seed < from + ENOUGH; seed++) yield seed;
}

describe('the simulation finds a core that', () => {
  test.each(MUTANTS)('$bug', { timeout: 300_000 }, async (mutant) => {
    using folder = temporaryFolder();
    const { createLocks: create } = await plant(mutant.faults, folder.path);
    const checker = CHECKERS[mutant.foundBy];
    for (const seed of seedsOf(mutant)) if (checker(await simulate(seed, create)).length > 0) return;
    expect.fail(`${mutant.foundBy} found nothing in ${ENOUGH} schedules`);
  });
});

describe('the simulation finds a quorum that', () => {
  test.each(QUORUM_MUTANTS)('$bug', { timeout: 300_000 }, async (mutant) => {
    using folder = temporaryFolder();
    const { quorum: join } = await plant(mutant.faults, folder.path);
    const checker = CHECKERS[mutant.foundBy];
    for (const seed of seedsOf(mutant)) if (checker(await simulate(seed, createLocks, 5, join)).length > 0) return;
    expect.fail(`${mutant.foundBy} found nothing in ${ENOUGH} schedules`);
  });
});
