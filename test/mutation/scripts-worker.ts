/** A process that runs the tests of an engine, each time with another mutant in its scripts. */
import fc from 'fast-check';
import type { Order, Report, Together, Told } from './messages.ts';
import { attempt, end, type Way } from './running.ts';
import { withMutant } from './scripts-loader.ts';
import { NEEDLESS, root, scriptMutants, testFiles } from './sources.ts';
import { type Taken, take } from './suite.ts';

fc.configureGlobal({ seed: 7 });

const mutants = scriptMutants(process.env.ENGINE!);
type Named = Taken & { readonly file: string };

async function load(script: number | undefined): Promise<readonly Named[]> {
  const query = withMutant(script === undefined ? undefined : mutants[script]);
  const tests: Named[] = [];
  for (const file of testFiles())
    for (const each of (await take(file, () => import(`${root}${file}${query}`))) ?? [])
      if (!NEEDLESS.test(each.name)) tests.push({ ...each, file });
  return tests;
}

/** Tests that wait for a server more than they work. */
const AT_A_TIME = 6;

async function together({ together: told, all, script }: Extract<Order, { together: unknown }>): Promise<Together> {
  const tests = await load(script);
  const failed: Together['failed'][number][] = [];
  const took: Record<number, number> = {};
  const run = async ({ test, ms }: Told): Promise<Way> => {
    const from = performance.now();
    const { way, failure } = await attempt(tests[test]!, { ms: Math.max(3_000, 4 * ms), cpu: 20_000 });
    took[test] = performance.now() - from;
    if (way !== 'passed' && process.env.LOUD) console.error(tests[test]!.name, way, failure);
    return way;
  };
  // What is not meant to run beside others of its file runs after them.
  const queue = [...Map.groupBy(told, ({ test }) => (tests[test]!.concurrent ? test : tests[test]!.file)).values()];
  const runs = async (): Promise<void> => {
    for (let chain = queue.shift(); chain; chain = queue.shift())
      for (const each of chain) {
        if (!all && failed.length > 0) return;
        if ((await run(each)) === 'passed') continue;
        // A second time, so that a busy machine is not taken for a test that fails.
        const how = await run(each);
        if (how !== 'passed') failed.push({ test: each.test, how });
      }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, runs));
  return { failed, took };
}

const send = (report: Report): void => void process.send?.(report);
setInterval(() => send({ alive: true }), 1_000);
process.on('disconnect', () => process.exit());
process.on('message', (order: Extract<Order, { together: unknown }>) => {
  void together(order).then(async (report) => {
    await end();
    send(report);
  });
});
send({ tests: (await load(undefined)).map(({ file, name }) => `${file}: ${name}`), atLoad: [], unloadable: [] });
