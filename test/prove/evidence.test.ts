import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { durationOf } from './duration.ts';
import { essence, evidence } from './evidence.ts';
import { parts } from './parts.ts';
import { type Result, restOf } from './result.ts';

const result = (part: string, code: number, ...lines: unknown[]): Result => ({
  ...{ part, code, lines, sources: 'abc', date: '2026-01-02T03:04:05Z', seconds: 60, printed: '3 passed, 0 failed' },
});

/** The page and a file of it, from these results. */
function written(
  results: Parameters<typeof evidence>[0],
  file = '',
  before?: (path: string) => string,
): { page: string; details: string } {
  const files = evidence(results, before);
  return { page: files.get('evidence.md')!, details: files.get(`evidence/${file}.md`) ?? '' };
}

test('the page says what was not run, and which part did not end as it should', () => {
  const simulation = result('simulation', 1, { nodes: 1, from: 1, histories: 1_234, broken: [7] });
  const { page, details } = written(
    [
      ['simulation', [simulation]],
      ['torture redis', []],
    ],
    'histories',
  );
  expect(details).toContain('| 1 | 1,234 | 1 | 1 |');
  expect(page).toMatch(
    /\| \[Random histories\]\(evidence\/histories\.md\) \|.*1,234 histories; 1 minutes \| 1 histories/,
  );
  expect(page).toContain('Not as it should be, in this run:** simulation');
  expect(page).toMatch(/Not run: torture redis/);
  expect(page).toMatch(/\| \[Torture\]\(evidence\/torture\.md\) \|.*not run/);
});

test('what another round found is added to what the first did', () => {
  const rounds = [
    result('simulation', 0, { nodes: 1, from: 1, histories: 1_000, broken: [] }),
    result('simulation', 1, { nodes: 1, from: 5_001, histories: 234, broken: [5_007] }),
  ];
  const { page, details } = written([['simulation', rounds]], 'histories');
  expect(details).toContain('| 1 | 1,234 | 1; 5,001 | 1 |');
  expect(page).toContain('Not as it should be, in this run:** simulation');
});

test('a round of another checkout is added to what the page says, if both ran on the same sources', () => {
  const run = (sources: string, totals: object, faults: object) => {
    const line = {
      engine: 'redis',
      outcome: 'kept',
      ran: 60_000,
      broken: {},
      staleRefused: 1,
      staleWrites: 1,
      totals,
      faults,
    };
    return [['torture redis', [{ ...result('torture redis', 0, line), sources }]]] as const;
  };
  const pages = new Map<string, string>();
  const tell = (...args: Parameters<typeof run>): void => {
    for (const [path, text] of evidence(run(...args), (path) => pages.get(path) ?? '')) pages.set(path, text);
  };
  const rowOf = (path: string, start: string) =>
    pages
      .get(path)!
      .split('\n')
      .find((line) => line.startsWith(start));
  tell('abc', { holds: 1_000, longestWait: 900 }, { killed: { done: 1, effective: 1 } });
  tell(
    'abc',
    { holds: 500, longestWait: 400 },
    { killed: { done: 2, effective: 2 }, stopped: { done: 1, effective: 1 } },
  );
  expect(rowOf('evidence/torture.md', '| redis')).toBe(
    '| redis | 120.0 s | 1,500 | 4 | 0 | 0 | 0 | 2 of 2 | 0.9 s | kept 2 | 2026-01-02, abc |',
  );
  expect(pages.get('evidence/torture.md')).toContain('Faults that hit, on abc: killed 3, stopped 1.');
  expect(rowOf('evidence.md', '| [Torture]')).toContain('1,500 locks taken, 4 faults that hit; 2 minutes | nothing |');
  tell('def', { holds: 7, longestWait: 400 }, { killed: { done: 2, effective: 2 } });
  expect(rowOf('evidence/torture.md', '| redis')).toContain('| 7 | 2 | 0 |');
  expect(rowOf('evidence.md', '| [Torture]')).toContain('7 locks taken, 2 faults that hit; 1 minutes | nothing |');
});

test('memos have a row for each engine, and real processes one of their own', () => {
  const line = (real: boolean, wrong: number) => ({
    ...{ engine: 'redis', real, ran: 60_000, from: 1, memos: 1_000, struck: { killed: 30, cut: 4 }, wrong },
  });
  const rounds = [result('memos redis', 0, line(false, 0)), result('memos redis, processes', 1, line(true, 2))];
  const { page, details } = written([['memos redis', rounds]], 'memos');
  expect(details).toContain('| redis | 60.0 s | 1,000 | killed 30, cut 4 | 0 | 1 |');
  expect(details).toContain('| redis, processes of the machine | 60.0 s | 1,000 | killed 30, cut 4 | 2 | 1 |');
  expect(page).toMatch(/\[Memos\].*2,000 keys, 68 faults that hit; 2 minutes \| 2 keys \|/);
});

test('what the page has is not added again, and a proof of one round keeps all that this checkout ran', () => {
  const histories = { ...result('simulation', 0, { nodes: 1, from: 1, histories: 1_000, broken: [] }), onPage: true };
  const schedules = (server: string) =>
    result(`exploration of ${server}`, 0, {
      plot: 'a',
      server,
      how: 'drawn',
      faults: 1,
      schedules: 5,
      exhausted: false,
    });
  const files = evidence([
    ['simulation', [histories]],
    ['exploration of memory', [{ ...schedules('memory'), onPage: true }]],
    ['exploration of file', [schedules('file')]],
  ]);
  expect(files.has('evidence/histories.md')).toBe(false);
  expect(files.get('evidence/orders.md')).toContain('| a | memory | 5 |');
  expect(files.get('evidence.md')).toContain('| 10 schedules; 2 minutes |');
});

test('the row of a proof that was not run here stays as it was, and so does its file', () => {
  const first = written([['suite', [result('suite', 0)]]]).page;
  const files = evidence(
    [['simulation', [result('simulation', 0, { nodes: 1, from: 1, histories: 9, broken: [] })]]],
    () => first,
  );
  const row = (page: string): string => page.split('\n').find((line) => line.includes('[The whole suite]'))!;
  expect(row(files.get('evidence.md')!)).toBe(row(first));
  expect([...files.keys()]).toEqual(['evidence.md', 'evidence/histories.md']);
});

test('a plot has one row for each engine, and each way to order its messages is below', () => {
  const line = { plot: 'a mutex', server: 'memory', faults: 1, schedules: 10, exhausted: false };
  const rounds = [
    result('exploration', 0, { ...line, how: 'every order' }, { ...line, how: 'at most 1 turns', exhausted: true }),
  ];
  const { details } = written([['exploration', rounds]], 'orders');
  const [short, long] = details.split('## Each way') as [string, string];
  expect(short.match(/^\| a mutex .*$/gm)).toEqual(['| a mutex | memory | 20 | at most 1 turns | no |']);
  expect(long.match(/^\| a mutex .*$/gm)).toHaveLength(2);
});

test('a topology of hosts has a row with what was done to it', () => {
  const line = {
    ...{ topology: 'etcd', ran: 60_000, outcome: 'kept', porcupine: 'possible', broken: {}, totals: { holds: 7 } },
    faults: { vanished: { done: 2, effective: 1 }, partitioned: { done: 1, effective: 0 } },
  };
  const { page, details } = written([['hosts etcd', [result('hosts etcd', 0, line)]]], 'hosts');
  expect(details).toContain('| etcd | 60.0 s | 7 | vanished 1 | - | possible | kept 1 | 2026-01-02, abc |');
  expect(page).toMatch(/Hosts of their own\].*7 locks taken, 1 faults that hit; 1 minutes \| nothing/);
});

test('a topology that was not run again keeps its row, with when and on which sources it ran', () => {
  const line = { ran: 1_000, outcome: 'kept', broken: {}, totals: { holds: 7 }, faults: {} };
  const hosts = (topology: string, sources: string) =>
    [`hosts ${topology}`, [{ ...result(`hosts ${topology}`, 0, { ...line, topology }), sources }]] as const;
  const { details } = written([hosts('etcd', 'old'), hosts('nats', 'old')], 'hosts');
  const next = written([hosts('etcd', 'new')], 'hosts', () => details).details;
  expect(next.match(/^\| (etcd|nats) .*$/gm)?.map((each) => each.split(', ').at(-1))).toEqual(['new |', 'old |']);
});

test('a part that was interrupted gets the rest of its time, with seeds that it has not had', () => {
  const whole = result('torture redis', 0);
  const half = { ...whole, code: null, seconds: 40, interrupted: true };
  expect(restOf([], 1)).toEqual({ seeds: 1, spent: 0 });
  expect(restOf([whole], 1)).toBeUndefined();
  expect(restOf([half], 1)).toEqual({ seeds: 2, spent: 40 });
  expect(restOf([half, half], 1)).toEqual({ seeds: 3, spent: 80 });
  expect(restOf([half, whole], 1)).toBeUndefined();
  expect(restOf([half, whole, half], 2)).toEqual({ seeds: 4, spent: 40 });
  expect(written([['torture redis', [half]]]).page).not.toContain('Not as it should be');
});

test('the page is one screen', () => {
  const page = readFileSync(new URL('../../docs/evidence.md', import.meta.url), 'utf8');
  expect(page.split('\n').length).toBeLessThan(30);
  expect(page.split(/\s+/).length).toBeLessThan(450);
});

test('of each other library without a token a late write was accepted, and of holdfast none, as the comparison says', () => {
  const page = readFileSync(new URL('../../docs/evidence/peers-under-faults.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| (\S+) \| \S+ \| (?:redis|file|etcd) \|(.*)\|$/gm)].map(
    ([, library, rest]) => [library!, Number(rest!.split('|').at(-3))] as const,
  );
  const hasToken = (library: string): boolean => /^(holdfast|redisson-fenced)$/.test(library);
  const accepted = (token: boolean) => rows.filter(([library]) => hasToken(library) === token).map(([, n]) => n);
  expect(accepted(false)).toHaveLength(7);
  expect(Math.min(...accepted(false))).toBeGreaterThan(0);
  expect(new Set(accepted(true))).toEqual(new Set([0]));
});

test('each run of the whole suite has a row, also one that failed', () => {
  const first = result('suite', 0);
  const rounds = [first, { ...first, code: 1, printed: '\n2 passed, 1 failed\n', sources: 'def' }];
  const { page, details } = written([['suite', rounds]], 'suite');
  expect(details).toContain('| 1 | abc | 1.0 | 3 | 0 |');
  expect(details).toContain('| 2 | def | 1.0 | 2 | 1 |');
  expect(page).toContain('Not as it should be, in this run:** suite');
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
  expect(evidence([['torture redis', [kept]]])).toEqual(evidence([['torture redis', [whole]]]));
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

test('what a promise allows to break is not listed as broken, whatever the other servers gave', () => {
  const owned = (name: string, outcome: string, broken: object) =>
    [
      `owner ${name}`,
      [
        result(`owner ${name}`, 0, {
          ...{ name, outcome, broken, promise: 'p', ran: 1_000, counts: {}, faults: {} },
          totals: { holds: 1 },
        }),
      ],
    ] as const;
  const allowed = owned('sentinel', 'broken, as the page says it may', { exclusion: 2 });
  const rowOf = (...results: Parameters<typeof evidence>[0]) =>
    written(results)
      .page.split('\n')
      .find((line) => line.startsWith('| [Faults of the server]'));
  expect(rowOf(allowed, owned('nats', 'nothing', {}))).toContain('| only what the promises say may |');
  expect(rowOf(owned('nats', 'nothing', {}))).toContain('| nothing |');
  expect(rowOf(allowed, owned('etcd', 'broken', { tokens: 1 }))).toContain('| etcd: tokens 1 |');
});

test('a folder of mutants that was judged in another checkout keeps its row, and one that was judged further gets another', () => {
  const judged = (of: string, killed: number, unrun: number) => ({
    ...{ of, mutants: 10, killed, unrun, equivalent: 1, survived: 9 - killed - unrun },
  });
  const first = result('mutants', 0, judged('core', 5, 0), judged('memo', 3, 6), judged('sql', 0, 10));
  const pages = evidence([['mutants', [first]]]);
  const second = result('mutants', 0, judged('core', 2, 7), judged('memo', 8, 1), judged('sql', 0, 10));
  const { page, details } = written([['mutants', [second]]], 'mutants', (path) => pages.get(path) ?? '');
  expect(details).toContain('| `core` | 10 | 5 | 4 | 1 | 0 | 55.6 % |');
  expect(details).toContain('| `memo` | 10 | 8 | 0 | 1 | 1 | 100.0 % |');
  expect(details).not.toContain('| `sql`');
  expect(page).toContain('| 20 mutants, 13 killed, 2 equivalent; 1 minutes | 4 survived, 1 not run |');
});
