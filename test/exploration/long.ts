/**
 * Every schedule, for as long as it is told: node test/exploration/long.ts [--faults 1] [--minutes 10] [--plot 'a mutex'] [--server file] [--seed 1]
 *
 * Each plot is explored in every order with up to so many faults; where that does not come to its end in its share of the time, schedules
 * with one fault more are drawn for as long again. A line of JSON for each; it ends with 1 where a promise was broken.
 */
import { parseArgs } from 'node:util';
import { type Explored, exploreAll, exploreSome } from './explore.ts';
import { fileServer, fitsFile } from './file-server.ts';
import { PLOTS } from './plots.ts';

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    plot: { type: 'string' },
    server: { type: 'string', default: 'memory' },
    seed: { type: 'string', default: '1' },
  },
});
const faults = Number(values.faults);
const { server } = values;
const serve = server === 'file' ? fileServer : undefined;
const plots = PLOTS.filter(
  (plot) => (values.plot === undefined || plot.name.includes(values.plot)) && (!serve || fitsFile(plot)),
);
const share = (Number(values.minutes) * 60_000) / plots.length;

function* from(seed: number): Iterable<number> {
  for (let next = seed; ; next++) yield next;
}

for (const plot of plots) {
  const tell = (how: string, upTo: number, began: number, { failure, ...counts }: Explored): void => {
    const seconds = Math.round((performance.now() - began) / 1_000);
    console.log(JSON.stringify({ plot: plot.name, server, how, faults: upTo, ...counts, seconds, ...failure }));
    if (failure) process.exitCode = 1;
  };
  const began = performance.now();
  const all = await exploreAll({ plot, serve, faults, goOn: () => performance.now() < began + share });
  tell('every order', faults, began, all);
  if (all.exhausted || all.failure) continue;
  const later = performance.now();
  const goOn = (): boolean => performance.now() < later + share;
  tell(
    'drawn',
    faults + 1,
    later,
    await exploreSome({ plot, serve, faults: faults + 1, goOn }, from(Number(values.seed))),
  );
}
