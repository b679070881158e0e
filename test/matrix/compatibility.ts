import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from './result.ts';
import { nameOf, SERVERS, suitesOf } from './servers.ts';

export const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'compatibility.md');
const folder = join(import.meta.dirname, 'results');

/** By the names of their cells. */
export type Results = ReadonlyMap<string, Result>;

export const readResults = (): Results =>
  new Map(
    globSync('*.json', { cwd: folder }).map((file) => [
      file.replace(/\.json$/, ''),
      JSON.parse(readFileSync(join(folder, file), 'utf8')) as Result,
    ]),
  );

export interface Cell {
  /** Of its result. */
  readonly name: string;
  readonly server: string;
  readonly version: string;
  readonly suite: string;
}

/** All that `npm run matrix` would run. */
export const cells: readonly Cell[] = SERVERS.flatMap((row) =>
  suitesOf(row).map(({ name: suite }) => ({
    name: `${nameOf(row)}-${suite}`,
    server: row.server,
    version: row.version,
    suite,
  })),
);

const TITLES: Readonly<Record<string, string>> = {
  redis: 'Redis',
  valkey: 'Valkey',
  postgres: 'PostgreSQL',
  pgbouncer: 'PgBouncer',
  mariadb: 'MariaDB',
  mysql: 'MySQL',
  etcd: 'etcd',
  zookeeper: 'ZooKeeper',
};
const titleOf = (server: string): string => TITLES[server] ?? server;
const line = (...columns: unknown[]): string => `| ${columns.join(' | ')} |`;

const INTRODUCTION = `# Versions that the tests ran on

Each row is a run of an engine's own tests, the conformance suite among them, on a real server of that version. Nobody writes
this page: \`npm run matrix\` fetches the servers, runs the tests, and writes it from the results in \`test/matrix/results\` of the repository.
Besides these, every change runs all tests on the versions of Debian 12: Redis 7.0, PostgreSQL 15, MariaDB 10.11, etcd 3.4 and ZooKeeper 3.8.

*Skipped* are tests that a server or the machine cannot run, such as those that need a program that is not there.`;

/** The page, from what ran. */
export function compatibility(all: readonly Cell[], results: Results): string {
  const ran = all.flatMap((cell) => results.get(cell.name) ?? []);
  const rows = ran.map((result) => {
    const clients = Object.entries(result.clients).map(([name, version]) => `${name} ${version}`);
    return line(
      ...[`${titleOf(result.server)} ${result.version}`, result.from, `\`${result.suite}\``],
      ...[clients.join(', ') || 'its own', result.runtime, result.date.slice(0, 10)],
      ...[result.passed, result.failed, result.skipped],
    );
  });
  const head = ['server', 'from', 'tests', 'client', 'runtime', 'date', 'passed', 'failed', 'skipped'];
  const failures = ran.flatMap(({ server, version, failures }) =>
    failures.map((name) => `- ${titleOf(server)} ${version}: ${name}`),
  );
  const missing = all.filter(({ name }) => !results.has(name));
  const notRun = [...Map.groupBy(missing, ({ server, version }) => `${titleOf(server)} ${version}`)].map(
    ([server, cells]) => `- ${server}: ${cells.map(({ suite }) => `\`${suite}\``).join(', ')}`,
  );
  const parts = [
    INTRODUCTION,
    [line(...head), line(...head.map(() => '---')), ...rows].join('\n'),
    ...(failures.length > 0 ? ['## What failed', failures.join('\n')] : []),
    ...(notRun.length > 0 ? ['## Not run yet', notRun.join('\n')] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

export const writeCompatibility = (): void => writeFileSync(PAGE, compatibility(cells, readResults()));
export const writtenPage = (): string => (existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '');
