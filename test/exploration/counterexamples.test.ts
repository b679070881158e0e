import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../kit/folder.ts';
import { plant } from '../kit/planted.ts';
import { CHECKERS, check } from '../simulation/checkers.ts';
import { MUTANTS } from '../simulation/mutants.ts';
import { COUNTEREXAMPLES } from './counterexamples.ts';
import { replay } from './explore.ts';
import { PLOTS } from './plots.ts';

describe('a schedule that was found once', () => {
  test.each(COUNTEREXAMPLES)('shows a core that $bug, and breaks no promise of ours', async ({
    bug,
    plot: name,
    schedule,
  }) => {
    const plot = PLOTS.find((each) => each.name === name)!;
    const mutant = MUTANTS.find((each) => each.bug === bug)!;
    using folder = temporaryFolder();
    const { createLocks: create } = await plant(mutant.faults, folder.path);
    const broken = await replay({ plot, faults: 9, create }, schedule);
    expect(CHECKERS[mutant.foundBy](broken.history), `what ${mutant.foundBy} finds`).not.toEqual([]);
    expect(check((await replay({ plot, faults: 9 }, schedule)).history)).toEqual([]);
  });
});
