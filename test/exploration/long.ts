/** Every schedule of the plots, for minutes: `node test/exploration/long.ts --help`. */
import { flagsOf } from '../kit/flags.ts';
import { type Explored, exploreAll, exploreSome } from './explore.ts';
import { fileServer, fitsFile } from './file-server.ts';
import { MEMO_PLOTS } from './memo-plots.ts';
import { PLOTS, type Plot } from './plots.ts';

const USAGE = `node test/exploration/long.ts [flags]: every schedule of the plots, for as long as it is told
  --minutes 10
  --faults 2          with one fault first, then with one more, up to so many
  --plot 'a mutex'    only plots with this in their name
  --server file       on a file; default memory
  --seed 1            of the drawn schedules
  --help              this
Where every order takes longer than a third of the plot's share, two other ways have a third each: every schedule that leaves the usual order at
most so many times, more of them as long as time is left; and drawn schedules with one fault more. A line of JSON for each. The exit code is the
verdict.`;

const { values } = flagsOf(USAGE, {
  options: {
    faults: { type: 'string', default: '2' },
    minutes: { type: 'string', default: '10' },
    plot: { type: 'string' },
    server: { type: 'string', default: 'memory' },
    seed: { type: 'string', default: '1' },
  },
});
const most = Number(values.faults);
const { server } = values;
const serve = server === 'file' ? fileServer : undefined;
const plots = [...PLOTS, ...MEMO_PLOTS].filter(
  (plot) => (values.plot === undefined || plot.name.includes(values.plot)) && (!serve || fitsFile(plot)),
);
const third = (Number(values.minutes) * 60_000) / plots.length / 3;

function* from(seed: number): Iterable<number> {
  for (let next = seed; ; next++) yield next;
}

/** Explores for a third of the plot's share at most, and says what came of it. */
async function explored(
  plot: Plot,
  how: string,
  faults: number,
  explore: (goOn: () => boolean) => Promise<Explored>,
): Promise<Explored> {
  const began = performance.now();
  const result = await explore(() => performance.now() < began + third);
  const { failure, ...counts } = result;
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(JSON.stringify({ plot: plot.name, server, how, faults, ...counts, seconds, ...failure }));
  if (failure) process.exitCode = 1;
  return result;
}

/** @returns whether there is more to see: every order came to its end, and nothing was wrong. */
async function everyOrder(plot: Plot, faults: number): Promise<boolean> {
  const all = await explored(plot, 'every order', faults, (goOn) => exploreAll({ plot, serve, faults, goOn }));
  if (all.exhausted || all.failure) return all.exhausted;
  const until = performance.now() + third;
  for (let turns = faults; performance.now() < until; turns++) {
    const how = `at most ${turns} turns`;
    const some = await explored(plot, how, faults, () =>
      exploreAll({ plot, serve, faults, turns, goOn: () => performance.now() < until }),
    );
    if (some.failure) return false;
  }
  const seeds = from(Number(values.seed));
  await explored(plot, 'drawn', faults + 1, (goOn) => exploreSome({ plot, serve, faults: faults + 1, goOn }, seeds));
  return false;
}

for (const plot of plots) for (let faults = 1; faults <= most; faults++) if (!(await everyOrder(plot, faults))) break;
