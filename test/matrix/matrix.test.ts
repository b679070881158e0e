import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Cell, cells, compatibility } from './compatibility.ts';
import { versionIn } from './launched.ts';
import { isSame, type Result } from './result.ts';
import { outcomeOf } from './run.ts';
import { nameOf, SERVERS, SUITES } from './servers.ts';

const root = join(import.meta.dirname, '..', '..');
const cell: Cell = { name: 'valkey-9.1-redis', server: 'valkey', version: '9.1', suite: 'redis' };
const result: Result = {
  ...{ server: 'valkey', version: '9.1.2', from: 'PyPI', suite: 'redis', clients: { ioredis: '6.0.0' } },
  ...{ runtime: 'Node 24.21.0', sources: 'abc', date: '2026-01-02T03:04:05Z', seconds: 60 },
  ...{ passed: 3, failed: 0, skipped: 1, failures: [] },
};

test('the page has a row for what ran, the names of what failed, and what did not run', () => {
  const other = { ...cell, name: 'redis-8.0-redis', server: 'redis', version: '8.0' };
  const page = compatibility([cell, other], new Map([[cell.name, { ...result, failed: 1, failures: ['a law'] }]]));
  expect(page).toContain('| Valkey 9.1.2 | PyPI | `redis` | ioredis 6.0.0 | Node 24.21.0 | 2026-01-02 | 3 | 1 | 1 |');
  expect(page).toMatch(/## What failed\n\n- Valkey 9.1.2: a law\n/);
  expect(page).toMatch(/## No green run yet\n\n[^-]*\n\n- Redis 8.0: `redis`\n/);
});

test('a client has a line for each server and runtime, with what was set, and what failed is told', () => {
  const run = { ...result, client: 'iovalkey', clients: { iovalkey: '0.4.0' }, suite: 'conformance' };
  const of = (setting: string, rest = {}): [Cell, Result] => [
    { ...cell, name: setting, suite: 'conformance', client: `iovalkey, ${setting}` },
    { ...run, setting, ...rest },
  ];
  const all = [of('plain'), of('TLS', { failed: 1, failures: ['a law'] })];
  const page = compatibility(
    all.map(([each]) => each),
    new Map(all.map(([{ name }, each]) => [name, each])),
  );
  const start = '| iovalkey | iovalkey 0.4.0 | Valkey 9.1.2 | Node 24.21.0 | 2026-01-02 |';
  expect(page).toContain(`${start} plain; TLS (1 of 4 failed) |`);
  expect(page).toMatch(/## What failed\n\n- Valkey 9.1.2, iovalkey, TLS, Node 24.21.0: a law\n/);
});

test('a result without a cell is not on the page', () => {
  expect(compatibility([], new Map([[cell.name, result]]))).not.toContain('9.1.2');
});

test('each cell has a name of its own, and each suite has tests', () => {
  expect(new Set(SERVERS.map(nameOf)).size).toBe(SERVERS.length);
  expect(new Set(cells.map(({ name }) => name)).size).toBe(cells.length);
  for (const { paths } of Object.values(SUITES).flat())
    for (const path of paths) expect(globSync(`${path}**/*.test.ts`, { cwd: root }), path).not.toEqual([]);
});

test.each([
  ['Redis server v=8.0.2 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64', '8.0.2'],
  ['Server v=9.1.2 sha=00000000:0', '9.1.2'],
  ['postgres (PostgreSQL) 18.4', '18.4'],
  ['etcd Version: 3.5.16\nGo Version: go1.24.4', '3.5.16'],
  ['/cache/mysql-9.7/root/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))', '9.7.4'],
  ['/cache/mariadb-11.8/root/usr/sbin/mariadbd  Ver 11.8.9-MariaDB-0+deb13u1 for debian-linux-gnu', '11.8.9'],
  ['db version v8.0.16\nBuild Info: {', '8.0.16'],
  ['Apache ZooKeeper, version 3.9.3 2024-10-17', '3.9.3'],
])('%s is version %s', (printed, version) => expect(versionIn(printed)).toBe(version));

test('a server that says no version is not run', () => {
  expect(() => versionIn('a usage')).toThrow(/no version in what the server says of itself: a usage/);
});

test('what ran is run again when the sources, the server, the client or the runtime are others', () => {
  expect(isSame(result, { ...result })).toBe(true);
  for (const changed of [{ sources: 'def' }, { version: '9.1.3' }, { runtime: 'Node 26.1.0' }, { clients: {} }]) {
    expect(isSame(result, { ...result, ...changed }), JSON.stringify(changed)).toBe(false);
  }
  const dirty = { ...result, sources: undefined };
  expect(isSame(dirty, dirty), 'sources that are not committed').toBe(false);
});

test('a file that could not be loaded is a failure, and tests that were not chosen are not skipped ones', () => {
  const report = {
    ...{ numPassedTests: 1, numFailedTests: 1, numPendingTests: 2, numTodoTests: 0 },
    testResults: [
      {
        ...{ name: '/somewhere/test/a.test.ts', status: 'failed' },
        assertionResults: [
          { status: 'passed', fullName: 'a law, on MySQL' },
          { status: 'failed', fullName: 'another law, on MySQL' },
          { status: 'skipped', fullName: 'a third law, on MySQL' },
          { status: 'skipped', fullName: 'a law, on MariaDB' },
        ],
      },
      { name: '/somewhere/test/b.test.ts', status: 'failed', assertionResults: [] },
    ],
  };
  expect(outcomeOf(report, 1, 'on MySQL')).toEqual({
    ...{ passed: 1, failed: 2, skipped: 1 },
    failures: ['another law, on MySQL', 'test/b.test.ts'],
  });
});
