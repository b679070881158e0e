/** Elections under faults, for minutes: `node test/long/leading.ts --help`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../../products/testing/random.ts';
import { flagsOf } from '../kit/flags.ts';
import { until } from '../kit/wait.ts';
import { Instance } from '../leading/instance.ts';
import { type LeadingEngine, SITES, type Site, TTL } from '../leading/sites.ts';
import { Chronicle, now } from './chronicle.ts';
import { AT_A_PROCESS, AT_A_STAND, picked } from './faults.ts';

const USAGE = `node --disable-warning=ExperimentalWarning test/long/leading.ts [flags]: five processes stand for election under faults
  --minutes 10
  --engines file,redis  these engines; default file,redis,postgres,etcd,zookeeper
  --seed 1              the same faults again; default: from the clock
  --help                this
They are killed, stopped, paused and cut off. Judged by a clock that all of them share: never two terms at a time, inside their deadlines; never
longer without a leader than the lease and one attempt. The exit code is the verdict.`;

const { values } = flagsOf(USAGE, {
  options: {
    minutes: { type: 'string', default: '10' },
    engines: { type: 'string', default: 'file,redis,postgres,etcd,zookeeper' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
  },
});
const engines = values.engines.split(',') as LeadingEngine[];
const random = randomFrom(Number(values.seed));

/**
 * The lease; what is added to it for one that waited and has not renewed yet, in whole seconds on etcd; one attempt, and its
 * way on a machine that is busy.
 */
const BOUND = TTL + 1_000 + 1_000 + 500;
/** ms between two faults: who was hit stands in line again, and its old place has expired. */
const REST = TTL;

const sites = new Map<LeadingEngine, Site>();
for (const engine of engines) sites.set(engine, await SITES[engine]());
const chronicles = new Map(engines.map((engine) => [engine, new Chronicle()]));
const instances = new Set<Instance>();
const counts = new Map<string, number>();

async function join(): Promise<void> {
  const instance = await Instance.start(sites);
  for (const [engine, chronicle] of chronicles) {
    chronicle.follow(instance.on(engine));
    await instance.on(engine).campaign('long', { ttl: TTL, label: 'same' });
  }
  instances.add(instance);
}

const count = (fault: string): void => void counts.set(fault, (counts.get(fault) ?? 0) + 1);

/** Of one process, of which every engine hears: for the most part one that leads somewhere. */
async function strikeProcess(): Promise<void> {
  const [name, fault] = picked(random, Object.entries(AT_A_PROCESS));
  const leaders = [...instances].filter((each) =>
    engines.some((engine) => chronicles.get(engine)!.leader === each.on(engine)),
  );
  const instance = picked(random, random() < 0.8 && leaders.length > 0 ? leaders : [...instances]);
  count(name);
  const struck = now(); // a file is free as soon as a process is dead, sooner than anybody here hears of it
  const dead = await fault(instance, random);
  if (!dead) return;
  for (const [engine, chronicle] of chronicles) chronicle.died(instance.on(engine), struck);
  instances.delete(instance);
  await Promise.all([instance[Symbol.asyncDispose](), join()]);
}

/** Of one link, or one term, of each engine. */
async function strikeStands(): Promise<void> {
  await Promise.all(
    engines.map(async (engine) => {
      const [name, fault] = picked(random, Object.entries(AT_A_STAND));
      const leader = chronicles.get(engine)!.leader;
      const stand = (random() < 0.7 && leader) || picked(random, [...instances]).on(engine);
      count(name);
      await fault(stand, random);
    }),
  );
}

let failed = false;
try {
  for (let i = 0; i < 5; i++) await join();
  const end = now() + Number(values.minutes) * 60_000;
  console.log(
    `${engines.join(', ')}; ${values.minutes} min; seed ${values.seed}; at most ${BOUND} ms without a leader`,
  );
  while (now() < end) {
    await (random() < 0.5 ? strikeProcess() : strikeStands());
    await sleep(REST + random() * 500);
  }
  for (const [engine, chronicle] of chronicles)
    await until(`somebody leads on ${engine}`, () => chronicle.leader !== undefined).catch(console.error);
  for (const [engine, chronicle] of chronicles) {
    const { wrong, longest } = chronicle.verdict(BOUND);
    failed ||= wrong.length > 0 || chronicle.leader === undefined;
    console.log(
      `${engine}: ${chronicle.reigns.length} terms, at most ${longest.toFixed(0)} ms without a leader, ${wrong.length} wrong`,
    );
    for (const line of wrong) console.log(`  ${line}`);
  }
  console.log([...counts].map(([fault, times]) => `${fault} ${times}`).join(', '));
} finally {
  for (const instance of instances) await instance[Symbol.asyncDispose]().catch(() => {});
  for (const site of sites.values()) await site[Symbol.asyncDispose]();
}
process.exitCode = failed ? 1 : 0;
