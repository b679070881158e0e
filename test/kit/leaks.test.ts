import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { Child } from './child.ts';
import { temporaryFolder } from './folder.ts';

interface Report {
  readonly success: boolean;
  readonly testResults: readonly { readonly name: string; readonly status: string; readonly message: string }[];
}

const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const config = join(import.meta.dirname, 'fixtures', 'vitest.config.ts');

let ended: string;
let report: Report;
beforeAll(async () => {
  using folder = temporaryFolder();
  const output = join(folder.path, 'report.json');
  // The files run as the suite does, in a run of their own, because they have to fail. What this run put into the
  // environment would make that one believe that it is a worker.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
  const args = [vitest, 'run', '--config', config, '--reporter=json', `--outputFile=${output}`];
  const run = new Child({ command: process.execPath, args, log: join(folder.path, 'log'), env });
  ended = await run.exited;
  if (!existsSync(output)) throw new Error(`vitest ${ended}. It printed:\n${run.output}`);
  report = JSON.parse(readFileSync(output, 'utf8'));
});

const outcome = (file: string): { status: string; message: string } =>
  report.testResults.find(({ name }) => name.endsWith(`${file}.fixture.ts`))!;

test.each([
  ['timer', 'timer', 'timer.fixture.ts:8'],
  ['socket', 'socket', 'socket.fixture.ts:8'],
  ['child', 'child process', 'child.fixture.ts:6'],
])('a file that leaves a %s behind fails, and is told where it was made', (file, what, where) => {
  const { status, message } = outcome(file);
  expect(status).toBe('failed');
  expect(message).toContain(`left behind by this file:\n  ${what}\n`);
  expect(message).toContain(where);
});

test('what was cleared in time is not held against a file', () => {
  expect(outcome('timer').message.match(/timer\.fixture\.ts:\d+/g)).toEqual(['timer.fixture.ts:8']);
});

test('a file that cleans up passes, with a worker, a proxy, a timer of the background and a decorator', () => {
  expect(outcome('clean')).toMatchObject({ status: 'passed', message: '' });
});

test('a rejection that nobody listens to fails the run, though every test passed', () => {
  expect(outcome('rejection').status).toBe('passed');
  expect(ended).toBe('ended with exit code 1');
});
