import { expect, test } from 'vitest';
import { MissingProgram } from '../kit/programs.ts';
import { type Report, summary } from './summary.ts';

const file = (status: string, ...tests: readonly string[]): Report['testResults'][0] => ({
  status,
  assertionResults: tests.map((status) => ({ status })),
});

const report = (counts: Partial<Report> = {}): Report => ({
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [file('passed', 'passed')],
  ...counts,
});

const last = (...args: Parameters<typeof summary>): string | undefined => summary(...args).lines.at(-1);

test('the last line is the counts alone', () => {
  expect(last(report(), 0, [], true)).toBe('3 passed, 0 failed');
  expect(last(report({ numFailedTests: 2 }), 1, [], true)).toBe('3 passed, 2 failed');
  expect(last(report({ numPendingTests: 4, numTodoTests: 1 }), 0, [], false)).toBe('3 passed, 0 failed, 5 skipped');
});

test('a file that failed without a failing test counts as one', () => {
  const [leaky, broken] = [file('failed', 'passed'), file('failed', 'failed')];
  const seen = report({ numFailedTests: 1, testResults: [leaky, broken] });
  expect(last(seen, 1, [], false)).toBe('3 passed, 2 failed');
});

test('an exit code that nothing explains counts as a failure, and so does a run without a report', () => {
  expect(last(report(), 1, [], false)).toBe('3 passed, 1 failed');
  expect(summary(undefined, 137, [], false).lines).toEqual([
    '!! vitest ended with exit code 137 and no report',
    '',
    '0 passed, 1 failed',
  ]);
});

test('what could not be run is told, and fails the run on CI, except what no package of Debian brings', () => {
  const absent = [
    new MissingProgram('etcd', ['etcd']),
    new MissingProgram('mongodb', ['mongod']),
    new MissingProgram('mysqld', ['mysqld']),
  ];
  const [etcd, mongodb, mysqld] = summary(report(), 0, absent, false).lines;
  expect(etcd).toMatch(/^!! NOT RUN: etcd needs etcd, .* apt-get install etcd-server/);
  expect(mongodb).toMatch(/^!! NOT RUN: mongodb needs mongod, .* set MONGO_URL/);
  expect(mysqld).toMatch(/^!! NOT RUN: mysqld needs mysqld, .*npm run prove -- matrix --fetch mysql/);
  expect(summary(report(), 0, absent, false).failed).toBe(0);
  expect(last(report(), 0, absent, true)).toBe('3 passed, 1 failed');
});
