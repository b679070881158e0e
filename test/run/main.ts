import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../kit/folder.ts';
import { ClockWatch } from '../kit/machine-clock.ts';
import { missing } from '../kit/programs.ts';
import { chosenEngines, neededServers } from '../kit/selection.ts';
import { dataFolder } from './data-folder.ts';
import { install } from './install.ts';
import { QUICK } from './quick.ts';
import { type Report, summary } from './summary.ts';

/** ms after which a run that hangs is ended. */
const LONGEST_RUN = 80 * 60_000;

/**
 * Installs what is missing, runs all tests (or what `args`, as of vitest, select; with `--quick` what needs no server), and resolves
 * with the exit code.
 */
export async function main([first, ...rest]: readonly string[]): Promise<number> {
  if (first !== '--quick') return run(first === undefined ? [] : [first, ...rest]);
  Object.assign(process.env, QUICK.environment);
  return run([...QUICK.paths, ...QUICK.without.map((path) => `--exclude=${path}`), ...rest]);
}

async function run(args: readonly string[]): Promise<number> {
  const engines = process.env.BACKENDS;
  console.log(
    `Engines: ${chosenEngines(engines).join(', ')}${engines ? '' : ' (narrow with BACKENDS=redis,etcd npm test)'}`,
  );
  install(neededServers(engines).flatMap((need) => missing(need) ?? []));

  using folder = temporaryFolder();
  using clock = new ClockWatch();
  const output = join(folder.path, 'report.json');
  const code = await vitest(['run', '--reporter=default', '--reporter=json', `--outputFile.json=${output}`, ...args]);
  const report: Report | undefined = existsSync(output) ? JSON.parse(readFileSync(output, 'utf8')) : undefined;
  const absent = neededServers(engines).flatMap((need) => missing(need) ?? []);
  const { lines, failed } = summary(report, code, absent, process.env.CI === 'true');
  for (const line of [...clock.lines, ...lines]) console.log(line);
  return failed > 0 ? 1 : 0;
}

async function vitest(args: readonly string[]): Promise<number> {
  const folder = dirname(createRequire(import.meta.url).resolve('vitest/package.json'));
  const run = spawn(process.execPath, [join(folder, 'vitest.mjs'), ...args], {
    env: { ...process.env, TMPDIR: dataFolder() },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: LONGEST_RUN,
  });
  const [code] = (await once(run, 'exit')) as [number | null];
  return code ?? 1;
}
