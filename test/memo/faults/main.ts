/**
 * Memos under faults on a real server of each engine: `npm run prove -- torture:memo --help`. On a file there is one lane of real processes: one that
 * is stopped there inside a transaction keeps out the lanes beside, too.
 */
import { openBackend } from '../../../src/connect/open.ts';
import { flagsOf } from '../../kit/flags.ts';
import { ALL_SITES, type SiteName } from '../../kit/sites.ts';
import { durationOf } from '../../prove/duration.ts';
import { playRealRounds } from './real/rounds.ts';
import { playRounds, type Tally } from './rounds.ts';

/** Between two words on how far it is, ms. */
const PROGRESS = 10_000;

const USAGE = `npm run prove -- torture:memo [flags]: memos on a real server of each engine, round by round
  --engines redis,file  these engines; default file,redis,postgres,mysql,etcd, and zookeeper with --real
  --rounds 1000         on each engine; without it 1000, or as many as --for allows
  --for 60s             begins no round on an engine after this time
  --lanes 100           so many keys at a time; with --real 4, and 1 on a file
  --seed 4711           of the first round, each next one has the next; default: from the clock
  --real                real processes, each with a connection of its own, get SIGKILL, SIGSTOP and SIGCONT, or lose their connection
  --json                a line of JSON for each engine
  --help                this
Three processes with two callers each want the result of one key, and one process is killed, stopped or cut off at a drawn step.
--seed 4711 --rounds 1 draws one round again. Every ten seconds it says how far it is. The exit code is the verdict.`;

const { values } = flagsOf(USAGE, {
  options: {
    engines: { type: 'string', default: 'file,redis,postgres,mysql,etcd' },
    rounds: { type: 'string' },
    for: { type: 'string' },
    lanes: { type: 'string' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    /** Processes of this machine, which get SIGKILL, SIGSTOP and SIGCONT, or whose connection is cut. */
    real: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const { real } = values;
const seed = Number(values.seed);
const time = values.for === undefined ? undefined : durationOf(values.for) * 1_000;
const rounds = Number(values.rounds ?? (time ? Number.POSITIVE_INFINITY : 1_000));
const lanesOf = (engine: SiteName): number => Number(values.lanes ?? (real ? (engine === 'file' ? 1 : 4) : 100));

/** Says on stderr how far the rounds are, every ten seconds. */
function progressOf(engine: string): (tally: Tally) => void {
  let told = performance.now();
  return ({ rounds: played, wrong }) => {
    if (performance.now() - told < PROGRESS) return;
    told = performance.now();
    console.error(
      `${engine}: ${played}${Number.isFinite(rounds) ? ` of ${rounds}` : ''} rounds, ${wrong} wrong so far`,
    );
  };
}

let failed = false;
for (const engine of values.engines.split(',') as SiteName[]) {
  await using site = await ALL_SITES[engine].start();
  const plan = { rounds, ...(time && { time }), lanes: lanesOf(engine), seed, progress: progressOf(engine) };
  const began = performance.now();
  if (!real && engine === 'zookeeper') throw new Error('ZooKeeper keeps a hold as long as its session: --real');
  const tally = real ? await playRealRounds(site, plan) : await playRounds(await openBackend(site.url), plan);
  const ran = performance.now() - began;
  failed ||= tally.wrong > 0;
  const { struck, wrong } = tally;
  if (values.json) console.log(JSON.stringify({ engine, real, ran, from: seed, memos: tally.rounds, struck, wrong }));
  const tell = values.json ? console.error : console.log;
  tell(`${engine}: ${tally.rounds} rounds from seed ${seed} in ${(ran / 1_000).toFixed(0)} s, ${wrong} wrong`);
  for (const line of tally.text) tell(`  ${line}`);
}
process.exit(failed ? 1 : 0); // the timers of those that were killed still run
