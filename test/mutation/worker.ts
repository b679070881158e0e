/** A process that takes down all tests once, and then runs those it is told, with one mutant at a time. */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { active, mutants } from './loader.ts';
import type { Order, Report, Told, Verdict } from './messages.ts';
import { NEEDLESS, root, testFiles } from './sources.ts';
import type { Suite, Taken } from './suite.ts';

// Properties are tried on the same examples each time, or a verdict would be one of luck.
fc.configureGlobal({ seed: 7 });

/** The mutant of a process that has one for all its life. */
const alone = process.env.MUTANT;
const NONE = alone === undefined ? -1 : Number(alone);
active.number = NONE;
active.reached = new Uint8Array(mutants.length);
const { suitesOf, take } = await import('./suite.ts');

const tests: (Taken & { readonly file: string })[] = [];
for (const file of testFiles())
  for (const each of await take(file, () => import(`${root}${file}`)))
    if (!NEEDLESS.test(each.name)) tests.push({ ...each, file });
const numbersIn = (reached: Uint8Array): number[] =>
  Array.from(reached.keys()).filter((number) => reached[number] === 1);
const atLoad = numbersIn(active.reached);
active.reached = undefined;

/** What nobody waited for. */
let unheard: unknown[] = [];
process.on('unhandledRejection', (error) => unheard.push(error));
process.on('uncaughtException', (error) => unheard.push(error));

const begun = new Map<Suite, Promise<void>>();
async function begin(inner: Suite): Promise<void> {
  for (const suite of suitesOf(inner)) {
    const beginning = async (): Promise<void> => {
      for (const before of suite.before) await before();
    };
    if (!begun.has(suite)) begun.set(suite, beginning());
    await begun.get(suite);
  }
}
async function end(): Promise<void> {
  // Some ask whether all tests of their file have run.
  const ends = [...begun.keys()].toReversed().flatMap(({ after }) => after);
  for (const each of ends) await (async () => each())().catch(() => {});
  begun.clear();
}

type Way = 'passed' | NonNullable<Verdict['how']>;
/** What the last test failed with. */
let failure: unknown;

/** How long a test may take, of the machine's time and of its own. */
interface Limit {
  readonly ms: number;
  readonly cpu: number;
}
/** So much longer than without a mutant. */
const limitOf = ({ ms, cpu }: Limit): Limit => ({ ms: Math.max(500, 5 * ms), cpu: Math.max(500, 5 * cpu) });

const cpuNow = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Resolves when a test is over time: it has worked too much, or it has had time enough and waits for nothing that comes. */
async function over({ ms, cpu }: Limit, ended: AbortSignal): Promise<Way> {
  const from = cpuNow();
  for (;;) {
    await sleep(ms, undefined, { signal: ended });
    const before = performance.eventLoopUtilization();
    await sleep(20, undefined, { signal: ended });
    const { utilization } = performance.eventLoopUtilization(before);
    // Neither where the machine is busy with other things.
    if (cpuNow() - from > cpu || utilization < 0.2) return 'time';
  }
}

async function attempt({ suite, run }: Taken, limit: Limit): Promise<Way> {
  // A server of the file has to start first.
  if (!begun.has(suite)) await Promise.race([begin(suite).catch(() => {}), sleep(30_000, undefined, { ref: false })]);
  const ended = new AbortController();
  unheard = [];
  const way = await Promise.race([
    over(limit, ended.signal),
    (async (): Promise<Way> => {
      try {
        await begin(suite);
        await run();
      } catch (error) {
        failure = error;
        return 'failed';
      }
      await turn();
      failure = unheard[0];
      return unheard.length > 0 ? 'rejected' : 'passed';
    })(),
  ]);
  ended.abort();
  return way;
}

/** A failure of a test that takes longer may be one of the machine's. */
const SURE = 50;

async function tried(test: number, limit: Limit, mutant: number): Promise<Way> {
  active.number = mutant;
  const way = await attempt(tests[test]!, limitOf(limit));
  active.number = NONE;
  return way;
}

async function judge(mutant: number, told: readonly Told[]): Promise<Verdict> {
  for (const each of told) {
    const { test, ms } = each;
    const way = await tried(test, each, mutant);
    if (way === 'passed') continue;
    const { file, name } = tests[test]!;
    const killed = { verdict: 'killed', by: `${file.replace('test/', '')}: ${name}`, how: way, test } as const;
    if (way !== 'time' && !alone && (await tried(test, each, NONE)) !== 'passed')
      return { ...killed, verdict: 'unfit' };
    if ((way === 'failed' && ms <= SURE) || alone || (await tried(test, each, mutant)) !== 'passed') return killed;
  }
  return { verdict: 'survived' };
}

/** Tests that wait for a server more than they work. */
const AT_A_TIME = 12;

async function together(told: readonly Told[], all: boolean): Promise<Report> {
  const failed: { test: number; how: string }[] = [];
  const took: Record<number, number> = {};
  // What is not meant to run beside others of its file runs after them.
  const queue = [...Map.groupBy(told, ({ test }) => (tests[test]!.concurrent ? test : tests[test]!.file)).values()];
  const runs = async (): Promise<void> => {
    for (let chain = queue.shift(); chain; chain = queue.shift())
      for (const { test, ms } of chain) {
        if (!all && failed.length > 0) return;
        const from = performance.now();
        const way = await attempt(tests[test]!, { ms: Math.max(3_000, 4 * ms), cpu: 20_000 });
        took[test] = performance.now() - from;
        if (way !== 'passed') failed.push({ test, how: way });
      }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, runs));
  return { failed, took };
}

async function obey(order: Order): Promise<Report> {
  if ('together' in order) return together(order.together, order.all);
  if ('mutant' in order) return judge(order.mutant, order.tests);
  if ('alone' in order) {
    const way = await tried(order.alone.test, order.alone, order.with);
    return { verdict: way === 'passed' ? 'survived' : 'killed' };
  }
  const it = tests[order.cover]!;
  active.reached = new Uint8Array(mutants.length);
  const from = performance.now();
  const cpuFrom = cpuNow();
  const way = await attempt(it, { ms: 20_000, cpu: 20_000 });
  const ms = performance.now() - from;
  const cpu = cpuNow() - cpuFrom;
  const reached = numbersIn(active.reached);
  active.reached = undefined;
  return { covered: order.cover, ms, cpu, reached, ...(way === 'passed' ? {} : { failed: `${way}: ${failure}` }) };
}

const send = (report: Report): void => void process.send?.(report);
setInterval(() => send({ alive: true }), 1_000);
process.on('disconnect', () => process.exit());
process.on('message', (order: Order) => {
  void obey(order).then(async (report) => {
    await end();
    send(report);
  });
});
send({ tests: tests.map(({ file, name }) => `${file}: ${name}`), atLoad });
