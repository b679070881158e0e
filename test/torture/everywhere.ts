/** `holdfast torture` on a server of each engine that is here, and engines that break promises: `npm run prove -- torture --help`. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '../../products/torture/events.ts';
import { type Torture, torture } from '../../products/torture/torture.ts';
import type { Verdict } from '../../products/torture/verdict.ts';
import { connect } from '../../src/connect/index.ts';
import { isLockError } from '../../src/index.ts';
import { ENGINES } from '../kit/engines.ts';
import { flagsOf } from '../kit/flags.ts';
import { whyNot } from '../kit/selection.ts';
import { secondOpinion } from '../porcupine/judges.ts';
import { BROKEN } from './broken.ts';
import { NODE_REDIS } from './node-redis.ts';
import { TORTURED } from './tortured.ts';

/** Whether a thread can renew there. */
const renewsByThread = (url: string): Promise<boolean> =>
  connect(url, { renewal: 'worker' }).then(
    async (locks) => {
      await locks.close();
      return true;
    },
    (error) => {
      if (isLockError(error, 'LOCK_UNSUPPORTED')) return false;
      throw error;
    },
  );

const USAGE = `npm run prove -- torture [engine…] [flags]: holdfast torture on a server of each engine that is here
  --for 60         seconds of each; above 60 in runs of up to 60 s on one server, each with the next seed and a line of its own
  --busy 8         so many callers of each process make many quick holds; default 0
  --processes 4    with more there are more faults in the same time; from 8 on half of them have none, in turn
  --broken <name>  only this one of the engines that break promises, each of which has to be found; none: leave them out
  --seed 1         the same faults again
  --json           a line of JSON for each
  --help           this
Ours has to keep its promises, and each promise that broken.ts breaks has to be found. Where Porcupine is built (test/porcupine), it
judges each history, too, and has to say the same. The exit code is the verdict.`;

const { values, positionals } = flagsOf(USAGE, {
  options: {
    for: { type: 'string', default: '60' },
    broken: { type: 'string' },
    seed: { type: 'string', default: '1' },
    busy: { type: 'string', default: '0' },
    processes: { type: 'string', default: '4' },
    json: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const seed = Number(values.seed);
/** Seconds: what is kept of an interrupted run of hours is all but the last minute. A judge that is not ours needs all events of a run at once. */
const LONGEST_RUN = 60;
const runs = Math.ceil(Number(values.for) / LONGEST_RUN);
const duration = (Number(values.for) * 1_000) / runs;
/** Where the history of a run is kept whose verdict is not the one that was wanted. */
const KEPT = join(import.meta.dirname, '../../.tmp/torture');
/** Compiled code, so that the next process of a killed one starts in a third of the time. */
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../.tmp/compiled');

const line = (engine: string, what: string, { outcome, ended, ran, totals, faults, broken }: Verdict): string => {
  const effective = Object.values(faults).reduce((sum, each) => sum + each.effective, 0);
  const how = Object.entries(broken)
    .map(([kind, times]) => `${kind} ${times}`)
    .join(', ');
  return `${engine.padEnd(15)} ${what.padEnd(42)} ${outcome.padEnd(8)} ${ended} ${(ran / 1_000).toFixed(1)} s, ${totals.holds} holds, ${effective} faults, longest wait ${(totals.longestWait / 1_000).toFixed(1)} s  ${how}`;
};

let wrong = 0;
for (const { name: engine, site, byNodeRedis } of TORTURED) {
  if (positionals.length > 0 && !positionals.includes(engine)) continue;
  const absent = whyNot(site.engine, [site.engine]);
  if (absent) {
    if (values.json) console.log(JSON.stringify({ engine, notRun: absent }));
    else console.log(`${engine.padEnd(15)} not run: ${absent}`);
    continue;
  }
  const opened = await site.start(4_000);
  let played = 0;
  try {
    const run = async (what: string, wanted: Verdict['outcome'], plans: Partial<Torture> = {}): Promise<void> => {
      process.env.BROKEN = what;
      const plan = {
        url: opened.url,
        besideOthers: true, // our own earlier runs on this server
        duration: wanted === 'broken' ? 60_000 : duration,
        // The seed is in the keys. In a store without a clock, a new process would wait for dead waiters of an earlier run on the same keys.
        seed: seed + played++,
        processes: Number(values.processes),
        busy: Number(values.busy),
        ...plans,
      };
      const events: Event[] = [];
      const verdict = await torture({ ...plan, onEvent: (event) => events.push(event) });
      const { opinion, agrees } = secondOpinion(events, verdict);
      if (values.json) {
        const { violations: _, engine: __, ...rest } = verdict;
        console.log(JSON.stringify({ engine, what, porcupine: opinion, ...rest }));
      } else console.log(`${line(engine, what, verdict)}  Porcupine: ${opinion}`);
      if (verdict.outcome === wanted && agrees) return;
      wrong++;
      mkdirSync(KEPT, { recursive: true });
      const log = join(KEPT, `${engine}-${verdict.seed}.jsonl`);
      writeFileSync(log, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
      console.log(`    its history is in ${log}`);
      if (!agrees) console.log(`    Porcupine says ${opinion}, and our judge does not`);
      for (const { message } of verdict.violations.slice(0, 5)) console.log(`    ${message}`);
      for (const what of verdict.missing) console.log(`    only ${what}`);
    };
    // The processes of node-redis give `createLocks` a client, and have no thread.
    const byThread = runs > 0 && !byNodeRedis && (await renewsByThread(opened.url));
    const plans = byNodeRedis ? { worker: NODE_REDIS } : {};
    for (let turn = 0; turn < runs; turn++) {
      await run('ours', 'kept', plans);
      if (byThread) await run('ours, renewed by a thread', 'kept', { ...plans, renewal: 'worker' });
    }
    if (byNodeRedis) continue; // the same engine as without the words: another client plants nothing new
    const names = Object.keys(BROKEN).filter((name) => !ENGINES[site.engine].unseen?.includes(name));
    const worker = new URL('broken.worker.ts', import.meta.url);
    for (const name of names)
      if (values.broken === undefined || name.includes(values.broken)) await run(name, 'broken', { worker });
  } finally {
    await opened[Symbol.asyncDispose]();
  }
}
process.exitCode = wrong > 0 ? 1 : 0;
