import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../kit/folder.ts';
import { plant } from '../../kit/planted.ts';
import { MEMO_CHECKERS } from './checkers.ts';
import { MEMO_MUTANTS } from './mutants.ts';
import { simulateMemo } from './simulate.ts';

/** Schedules in which a planted bug must be found. */
const ENOUGH = 4_000;

describe('the simulation of memos finds one that', () => {
  test.each(MEMO_MUTANTS)('$bug', { timeout: 300_000 }, async (mutant) => {
    using folder = temporaryFolder();
    const { createLocks } = await plant(mutant.faults, folder.path);
    const checker = MEMO_CHECKERS[mutant.foundBy];
    for (let seed = 1; seed <= ENOUGH; seed++) if (checker(await simulateMemo(seed, createLocks)).length > 0) return;
    expect.fail(`${mutant.foundBy} found nothing in ${ENOUGH} schedules`);
  });
});
