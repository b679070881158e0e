import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { durationOf } from './duration.ts';
import { essence, evidence, orders } from './evidence.ts';
import { parts } from './parts.ts';
import type { Result } from './result.ts';

const result = (part: string, code: number, ...lines: unknown[]): Result => ({
  ...{ part, code, lines, commit: 'abc', date: '2026-01-02T03:04:05Z', seconds: 60, printed: '3 passed, 0 failed' },
});

test('the page says what was not run, and which part did not end as it should', () => {
  const simulation = result('simulation', 1, { nodes: 1, from: 1, histories: 1_234, broken: [7] });
  const page = evidence([
    ['simulation', [simulation]],
    ['torture redis', []],
  ]);
  expect(page).toContain('| 1 | 1,234 | 1 | 1 |');
  expect(page).toContain('Not as it should be, in this run:** simulation');
  expect(page).toMatch(/## What was not run\n\n- torture redis/);
  expect(page).toMatch(/## Torture\n\n.*\n\nNot run\./);
});

test('what another round found is added to what the first did', () => {
  const rounds = [
    result('simulation', 0, { nodes: 1, from: 1, histories: 1_000, broken: [] }),
    result('simulation', 1, { nodes: 1, from: 5_001, histories: 234, broken: [5_007] }),
  ];
  const page = evidence([['simulation', rounds]]);
  expect(page).toContain('| 1 | 1,234 | 1; 5,001 | 1 |');
  expect(page).toContain('Not as it should be, in this run:** simulation');
});

test('a plot has one row for each engine, and each way to order its messages is behind a link', () => {
  const line = { plot: 'a mutex', server: 'memory', faults: 1, schedules: 10, exhausted: false };
  const rounds = [
    result('exploration', 0, { ...line, how: 'every order' }, { ...line, how: 'at most 1 turns', exhausted: true }),
  ];
  const page = evidence([['exploration', rounds]]);
  expect(page.match(/^\| a mutex .*$/gm)).toEqual(['| a mutex | memory | 20 | at most 1 turns | no |']);
  expect(page).toContain('](evidence/orders.md)');
  expect(orders([['exploration', rounds]]).match(/^\| a mutex .*$/gm)).toHaveLength(2);
});

test('of each other library a late write was accepted, and of holdfast none, as the comparison says', () => {
  const page = readFileSync(new URL('../../docs/evidence.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('## Other libraries');
  const rows = [...section.matchAll(/^\| (\S+) \| (?:redis|file|etcd) \|(.*)\|$/gm)].map(
    ([, library, rest]) => [library!, Number(rest!.split('|').at(-2))] as const,
  );
  const accepted = (ours: boolean) => rows.filter(([library]) => (library === 'holdfast') === ours).map(([, n]) => n);
  expect(accepted(false)).toHaveLength(5);
  expect(Math.min(...accepted(false))).toBeGreaterThan(0);
  expect(new Set(accepted(true))).toEqual(new Set([0]));
});

test('each run of the whole suite has a row, also one that failed', () => {
  const first = result('suite', 0);
  const page = evidence([['suite', [first, { ...first, code: 1, printed: '\n2 passed, 1 failed\n', commit: 'def' }]]]);
  expect(page).toContain('| 1 | abc | 1.0 | 3 | 0 |');
  expect(page).toContain('| 2 | def | 1.0 | 2 | 1 |');
  expect(page).toContain('Not as it should be, in this run:** suite');
});

test('the page introduces itself in one sentence, however many commits it was made from', () => {
  const rounds = Array.from({ length: 40 }, (_, i) => ({ ...result('suite', 0), commit: `commit${i}` }));
  const [, introduction = ''] = evidence([['suite', rounds]]).split('\n\n');
  expect(introduction).toMatch(/^.{15,200}$/);
});

test('of a result only that is kept which the page is written from', () => {
  const run = {
    engine: 'redis',
    outcome: 'kept',
    ran: 60_000,
    broken: {},
    faults: { kill: { done: 3, effective: 2 } },
  };
  const whole = {
    ...result('torture redis', 0, { ...run, totals: { holds: 5, longestWait: 900 }, violations: ['long'], seed: 7 }),
    printed: 'a great deal\n3 passed, 0 failed\n',
  };
  const kept = essence(whole);
  expect(JSON.stringify(kept)).not.toMatch(/long"|seed|great/);
  expect(evidence([['torture redis', [kept]]])).toBe(evidence([['torture redis', [whole]]]));
});

test('all parts together take the time that there is', () => {
  expect(parts(1).reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
});

test.each([
  ['90s', 90],
  ['10m', 600],
  ['2h', 7_200],
])('%s is %d seconds', (text, seconds) => expect(durationOf(text)).toBe(seconds));

test('what is no duration is refused', () => expect(() => durationOf('long')).toThrow(/must be like/));
