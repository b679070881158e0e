/** Memos in every order of their messages. One schedule again: `PLOT='a memo' SCHEDULE='…' npx vitest run test/exploration/memo.test.ts` */
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../kit/folder.ts';
import { plant } from '../kit/planted.ts';
import { checkMemo } from '../simulation/memo/checkers.ts';
import { MEMO_MUTANTS } from '../simulation/memo/mutants.ts';
import { type Explored, exploreAll, exploreSome, replay } from './explore.ts';
import { MEMO_PLOTS } from './memo-plots.ts';

const { PLOT, SCHEDULE, EXPLORE } = process.env;
const MOST = EXPLORE === 'little' ? 40 : 300;
const DRAWN = EXPLORE === 'little' ? 10 : 60;
const LIMIT = { timeout: 120_000 };
const plots = MEMO_PLOTS.filter(({ name }) => PLOT === undefined || name === PLOT);

function sound({ failure }: Explored, plot: string): void {
  if (failure)
    expect.fail(
      `${failure.found.join('\n')}\nagain: PLOT='${plot}' SCHEDULE='${failure.schedule}' npx vitest run test/exploration/memo.test.ts`,
    );
}

describe.skipIf(SCHEDULE !== undefined)('no schedule breaks a promise of memos:', () => {
  test.each(plots)('$name, in every order of its messages', LIMIT, async (plot) => {
    const explored = await exploreAll({ plot, faults: 0, goOn: (schedules) => schedules < MOST });
    sound(explored, plot.name);
    expect(explored.schedules, 'schedules').toBeGreaterThanOrEqual(10);
  });

  test.each(plots)('$name, with messages held up or lost, processes that stand still or die', LIMIT, async (plot) => {
    for (const faults of [1, 2, 3]) {
      const seeds = Array.from({ length: DRAWN }, (_, i) => faults * 1_000 + i);
      sound(await exploreSome({ plot, faults }, seeds), plot.name);
    }
  });
});

/** Planted bugs, and the plot whose schedules show each. */
const SHOWN: readonly (readonly [bug: string, plot: string])[] = [
  ['lets the wait of a caller end while its own function runs', 'a memo whose caller gives up'],
  ['does not ask again after a release without an answer', 'a memo'],
  ['passes a run on to the next caller of the process, as a lock does', 'a memo, two callers in each process'],
];

describe.skipIf(SCHEDULE !== undefined)('a schedule is found that shows a memo that', () => {
  test.each(SHOWN)('%s', LIMIT, async (bug, name) => {
    const plot = MEMO_PLOTS.find((each) => each.name === name)!;
    const mutant = MEMO_MUTANTS.find((each) => each.bug === bug)!;
    using folder = temporaryFolder();
    const { createLocks: create } = await plant(mutant.faults, folder.path);
    const seeds = Array.from({ length: 400 }, (_, i) => i);
    const { failure } = await exploreSome({ plot, faults: 2, create }, seeds);
    expect(failure?.found ?? []).toContainEqual(expect.stringContaining(`${mutant.foundBy}: `));
  });
});

test.skipIf(SCHEDULE === undefined)('the schedule that was asked for breaks no promise of memos', async () => {
  for (const plot of plots) {
    const { memos, schedule } = await replay({ plot, faults: 99 }, SCHEDULE!);
    for (const event of memos.events)
      console.log(JSON.stringify(event, (_, value) => (typeof value === 'bigint' ? `${value}` : value)));
    console.log(schedule.join('; '));
    expect(checkMemo(memos)).toEqual([]);
  }
});
