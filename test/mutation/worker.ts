/** A process that takes down all tests once, and then runs those it is told, with one mutant at a time. */
import fc from 'fast-check';
import { active, mutants } from './loader.ts';
import type { Order, Report, Told, Verdict } from './messages.ts';
import type { Limit, Way } from './running.ts';
import { NEEDLESS, root, testFiles } from './sources.ts';
import type { Taken } from './suite.ts';

// Properties are tried on the same examples each time, or a verdict would be one of luck.
fc.configureGlobal({ seed: 7 });

/** The mutant of a process that has one for all its life. */
const alone = process.env.MUTANT;
const NONE = alone === undefined ? -1 : Number(alone);
active.number = NONE;
active.reached = new Uint8Array(mutants.length);
const { take } = await import('./suite.ts');
const { attempt, cpuNow, end } = await import('./running.ts');

const tests: (Taken & { readonly file: string })[] = [];
const unloadable: string[] = [];
for (const file of testFiles()) {
  const all = await take(file, () => import(`${root}${file}`));
  if (!all) unloadable.push(file);
  for (const each of all ?? []) if (!NEEDLESS.test(each.name)) tests.push({ ...each, file });
}
const numbersIn = (reached: Uint8Array): number[] =>
  Array.from(reached.keys()).filter((number) => reached[number] === 1);
const atLoad = numbersIn(active.reached);
active.reached = undefined;

/** So much longer than without a mutant. */
const limitOf = ({ ms, cpu }: Limit): Limit => ({ ms: Math.max(500, 5 * ms), cpu: Math.max(500, 5 * cpu) });

/** A failure of a test that takes longer may be one of the machine's. */
const SURE = 50;

async function tried(test: number, limit: Limit, mutant: number): Promise<Way> {
  active.number = mutant;
  const { way } = await attempt(tests[test]!, limitOf(limit));
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

async function obey(order: Exclude<Order, { together: unknown }>): Promise<Report> {
  if ('mutant' in order) return judge(order.mutant, order.tests);
  if ('alone' in order) {
    const way = await tried(order.alone.test, order.alone, order.with);
    return { verdict: way === 'passed' ? 'survived' : 'killed' };
  }
  const it = tests[order.cover]!;
  active.reached = new Uint8Array(mutants.length);
  const from = performance.now();
  const cpuFrom = cpuNow();
  const { way, failure } = await attempt(it, { ms: 20_000, cpu: 20_000 });
  const ms = performance.now() - from;
  const cpu = cpuNow() - cpuFrom;
  const reached = numbersIn(active.reached);
  active.reached = undefined;
  return { covered: order.cover, ms, cpu, reached, ...(way === 'passed' ? {} : { failed: `${way}: ${failure}` }) };
}

const send = (report: Report): void => void process.send?.(report);
setInterval(() => send({ alive: true }), 1_000);
process.on('disconnect', () => process.exit());
process.on('message', (order: Exclude<Order, { together: unknown }>) => {
  void obey(order).then(async (report) => {
    await end();
    send(report);
  });
});
send({ tests: tests.map(({ file, name }) => `${file}: ${name}`), atLoad, unloadable });
