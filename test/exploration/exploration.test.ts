import { describe, expect, test } from 'vitest';
import { check } from '../simulation/checkers.ts';
import { type Explored, exploreAll, exploreSome, replay } from './explore.ts';
import { fileServer, fitsFile } from './file-server.ts';
import { PLOTS } from './plots.ts';

/**
 * The whole core, in every order in which messages can arrive. One schedule again, from the text that a failure shows:
 * `PLOT='a mutex' SCHEDULE='deliver p0>s0.1; …' npx vitest run test/exploration`. `node test/exploration/long.ts` goes on for longer.
 */
const { PLOT, SCHEDULE, EXPLORE } = process.env;
/** Schedules in every order; of what has more of them, so many are drawn. */
const MOST = EXPLORE === 'little' ? 40 : 300;
const DRAWN = EXPLORE === 'little' ? 10 : 100;

const plots = PLOTS.filter(({ name }) => PLOT === undefined || name === PLOT);

function sound({ failure }: Explored, plot: string): void {
  if (failure)
    expect.fail(
      `${failure.found.join('\n')}\nagain: PLOT='${plot}' SCHEDULE='${failure.schedule}' npx vitest run test/exploration`,
    );
}

describe.skipIf(SCHEDULE !== undefined)('no schedule breaks a promise:', () => {
  test.each(plots)('$name, in every order of its messages', { timeout: 120_000 }, async (plot) => {
    const explored = await exploreAll({ plot, faults: 0, goOn: (schedules) => schedules < MOST });
    sound(explored, plot.name);
    expect(explored.exhausted || explored.schedules === MOST).toBe(true);
    expect(explored.schedules, 'schedules').toBeGreaterThanOrEqual(10);
  });

  test.each(plots)('$name, with messages held up or lost, processes that stand still or die', {
    timeout: 120_000,
  }, async (plot) => {
    for (const faults of [1, 2, 3]) {
      const seeds = Array.from({ length: DRAWN }, (_, i) => faults * 1_000 + i);
      sound(await exploreSome({ plot, faults }, seeds), plot.name);
    }
  });
});

describe.skipIf(SCHEDULE !== undefined)('no schedule breaks a promise over the steps of the file backend:', () => {
  // Fewer: each step is a transaction of SQLite.
  test.each(plots.filter(fitsFile))('$name', { timeout: 120_000 }, async (plot) => {
    const serve = fileServer;
    const all = await exploreAll({ plot, serve, faults: 0, goOn: (schedules) => schedules < MOST / 4 });
    sound(all, plot.name);
    expect(all.schedules, 'schedules').toBeGreaterThanOrEqual(10);
    const seeds = Array.from({ length: DRAWN / 2 }, (_, i) => 9_000 + i);
    for (const faults of [1, 2]) sound(await exploreSome({ plot, serve, faults }, seeds), plot.name);
  });
});

test.skipIf(SCHEDULE === undefined)('the schedule that was asked for breaks no promise', async () => {
  for (const plot of plots) {
    const { history, schedule } = await replay({ plot, faults: 99 }, SCHEDULE!);
    for (const event of history.events)
      console.log(JSON.stringify(event, (_, value) => (typeof value === 'bigint' ? `${value}` : value)));
    console.log(schedule.join('; '));
    expect(check(history)).toEqual([]);
  }
});
