/**
 * Memos on a real server of each engine, round by round: three processes with two callers each want the result of one key, and one process
 * is killed, stopped or cut off at a drawn step. `--rounds 10000` on each engine; `--lanes 100` at a time. Each round has a seed of its own,
 * from `--seed` on, so that `--seed 4711 --rounds 1` draws that one again. The exit code is the verdict.
 *
 *     npm run torture:memo -- --engines redis,postgres --rounds 10000 --seed 1
 */
import { parseArgs } from 'node:util';
import { openBackend } from '../../../src/connect/open.ts';
import { SITES, type SiteName } from '../../kit/sites.ts';
import { playRounds } from './rounds.ts';

const { values } = parseArgs({
  options: {
    engines: { type: 'string', default: 'file,redis,postgres,mysql,etcd' },
    rounds: { type: 'string', default: '1000' },
    lanes: { type: 'string', default: '100' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
  },
});
const [rounds, lanes, seed] = [Number(values.rounds), Number(values.lanes), Number(values.seed)];

let failed = false;
for (const engine of values.engines.split(',') as SiteName[]) {
  await using site = await SITES[engine].start();
  const backend = await openBackend(site.url);
  const began = performance.now();
  const tally = await playRounds(backend, { rounds, lanes, seed });
  const took = ((performance.now() - began) / 1_000).toFixed(0);
  failed ||= tally.wrong > 0;
  console.log(`${engine}: ${rounds} rounds from seed ${seed} in ${took} s, ${tally.wrong} wrong`);
  for (const line of tally.text) console.log(`  ${line}`);
  await backend.close();
}
process.exit(failed ? 1 : 0); // the timers of those that were killed still run
