import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../kit/folder.ts';
import { type Report, summary } from '../run/summary.ts';
import type { Launched } from './launched.ts';
import type { Result } from './result.ts';
import type { Suite } from './servers.ts';

const require = createRequire(import.meta.url);
/** ms after which a suite that hangs is ended. */
const LONGEST = 60 * 60_000;

interface NamedReport extends Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

type Outcome = Pick<Result, 'seconds' | 'passed' | 'failed' | 'skipped' | 'failures'>;

/** Runs a suite on a server in a process of its own, one file at a time; undefined if it was ended before it had a result. */
export async function runOn({ env }: Launched, suite: Suite): Promise<Outcome | undefined> {
  using folder = temporaryFolder();
  const output = join(folder.path, 'report.json');
  const vitest = join(dirname(require.resolve('vitest/package.json')), 'vitest.mjs');
  const only = suite.only ? ['-t', suite.only] : [];
  const reports = ['--reporter=default', '--reporter=json', `--outputFile.json=${output}`];
  const began = performance.now();
  const child = spawn(process.execPath, [vitest, 'run', '--maxWorkers=1', ...reports, ...only, ...suite.paths], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...env, BACKENDS: suite.backends },
    timeout: LONGEST,
  });
  // A signal that only this process got, as of `kill`, ends the tests, which end their servers.
  const end = (): boolean => child.kill();
  process.once('SIGTERM', end);
  const [code] = (await once(child, 'exit')) as [number | null];
  process.off('SIGTERM', end);
  if (!existsSync(output)) return undefined;
  const report = JSON.parse(readFileSync(output, 'utf8')) as NamedReport;
  const seconds = Math.round((performance.now() - began) / 1_000);
  return { seconds, ...outcomeOf(report, code ?? 1, suite.only ?? '') };
}

/** @param only what the names of the tests have that were chosen: vitest counts the others as skipped */
export function outcomeOf(report: NamedReport, code: number, only: string): Omit<Outcome, 'seconds'> {
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const named = (status: string): string[] =>
    tests.filter((test) => test.status === status && test.fullName.includes(only)).map(({ fullName }) => fullName);
  const files = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: summary(report, code, [], false).failed,
    skipped: ['pending', 'skipped', 'todo', 'disabled'].flatMap(named).length,
    failures: [...named('failed'), ...files.map(({ name }) => name.replace(/^.*\/(?=test\/)/, ''))],
  };
}

/** Of packages, as they are installed here. */
export const versionsOf = (packages: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    packages.map((name) => {
      const path = join(import.meta.dirname, '..', '..', 'node_modules', name, 'package.json');
      return [name, (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version];
    }),
  );
