import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientCells } from './clients/cells.ts';
import { kitServer } from './clients/kit-servers.ts';
import type { Result } from './result.ts';
import { nameOf, SERVERS, suitesOf } from './servers.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'compatibility.md');
/** Where the results of this machine are. */
export const RESULTS = join(import.meta.dirname, '..', '..', '.results', 'matrix');

/** By the names of their cells. */
export type Results = ReadonlyMap<string, Result>;

export const readResults = (): Results =>
  new Map(
    globSync('*.json', { cwd: RESULTS }).map((file) => [
      file.replace(/\.json$/, ''),
      JSON.parse(readFileSync(join(RESULTS, file), 'utf8')) as Result,
    ]),
  );

export interface Cell {
  /** Of its result. */
  readonly name: string;
  readonly server: string;
  readonly version: string;
  readonly suite: string;
  /** Of a run over one client: it, with its setting, and the runtime. */
  readonly client?: string;
}

const ofServers: readonly Cell[] = SERVERS.flatMap((row) =>
  suitesOf(row).map(({ name: suite }) => ({
    name: `${nameOf(row)}-${suite}`,
    server: row.server,
    version: row.version,
    suite,
  })),
);

const ofClients: readonly Cell[] = clientCells.map(({ name, row, on, title, runtime }) => {
  const at = SERVERS.find((each) => nameOf(each) === on) ?? kitServer(on);
  const client = [row.title, title, runtime].join(', ');
  return { name, server: at?.server ?? '', version: at?.version ?? '', suite: 'conformance', client };
});

/** All that `npm run prove -- matrix` would run. */
export const cells: readonly Cell[] = [...ofServers, ...ofClients];

const TITLES: Readonly<Record<string, string>> = {
  redis: 'Redis',
  valkey: 'Valkey',
  postgres: 'PostgreSQL',
  pgbouncer: 'PgBouncer',
  mariadb: 'MariaDB',
  mysql: 'MySQL',
  mongodb: 'MongoDB',
  etcd: 'etcd',
  zookeeper: 'ZooKeeper',
  nats: 'NATS',
  's3-moto': 'moto',
  'dynamodb-dynalite': 'dynalite',
  'dynamodb-moto': 'moto',
};
const titleOf = (server: string): string => TITLES[server] ?? server;
const line = (...columns: unknown[]): string => `| ${columns.join(' | ')} |`;

const INTRODUCTION = `# What the tests ran on

Each row is a run on a real server of that version, by all tests of the engine. Each cell of a table of clients is a run of the conformance
suite, about 140 cases, over that client. *plain* is the client as it comes; beside it what was set, or how the server stood. Nobody writes
this page: \`npm run prove -- matrix\` fetches servers, clients and runtimes, runs the tests, and writes it at the end of a
whole run.

*Skipped* are tests that a server or the machine cannot run, such as those that need a program that is not there.`;

const OF_MISSING = `These were not run, or some of their tests failed. What failed is not understood yet, or was mended and not run again. MySQL 8.4 and
MongoDB are in no registry of packages: the public workflow runs them in the containers of their projects.`;

/** What no run of the matrix is about. */
const OF_OTHERS = `## What every change runs

All tests run on every change, on Node 24 and the versions of Debian 12: Redis 7.0, PostgreSQL 15, MariaDB 10.11, etcd 3.4, ZooKeeper 3.8. NATS is
2.15.1. S3 is moto 5.2.5, and DynamoDB is dynalite 4.0.0 and moto, which are emulators. **MongoDB is a stub**: a server, 4.4.6, ran by hand only.`;

/** The parts of the page, and the servers of each. */
const PARTS: readonly (readonly [title: string, ...servers: string[]])[] = [
  ['Redis and Valkey', 'redis', 'valkey'],
  ['PostgreSQL', 'postgres'],
  ['MySQL and MariaDB', 'mysql', 'mariadb'],
  ['MongoDB', 'mongodb'],
  ['etcd', 'etcd'],
  ['ZooKeeper', 'zookeeper'],
  ['NATS', 'nats'],
  ['S3, by an emulator', 's3-moto'],
  ['DynamoDB, by emulators', 'dynamodb-dynalite', 'dynamodb-moto'],
  ['Without a server', 'none'],
];

const headed = (...head: string[]): string[] => [line(...head), line(...head.map(() => '---'))];

/** The page, from what ran. */
export function compatibility(all: readonly Cell[], results: Results): string {
  const ran = all.flatMap((cell) => results.get(cell.name) ?? []);
  const [servers, clients] = [ran.filter(({ client }) => !client), ran.filter(({ client }) => client)];
  const failures = ran.flatMap((result) => result.failures.map((name) => `- ${nameOfRun(result)}: ${name}`));
  const missing = all.filter(({ name }) => !results.has(name));
  const notRun = [...Map.groupBy(missing, ({ server, version, client }) => client ?? titled(server, version))].map(
    ([title, cells]) => `- ${title}: ${cells.map(({ suite }) => `\`${suite}\``).join(', ')}`,
  );
  const parts = [
    INTRODUCTION,
    `Rows: ${servers.length}; cells of clients: ${clients.length}; no green run yet: ${missing.length}.`,
    ...PARTS.flatMap((part) => partOf(part, ran)),
    OF_OTHERS,
    ...(failures.length > 0 ? ['## What failed', failures.join('\n')] : []),
    ...(notRun.length > 0 ? ['## No green run yet', OF_MISSING, notRun.join('\n')] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

const titled = (server: string, version: string): string =>
  version === '' ? 'no server' : `${titleOf(server)} ${version}`;
const nameOfRun = ({ server, version, client, setting, runtime }: Result): string =>
  [titled(server, version), ...(client ? [client, setting, runtime] : [])].join(', ');

const versionsOf = ({ clients }: Result): string =>
  Object.entries(clients)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');

/** Nothing, where nothing ran. */
function partOf([title, ...names]: (typeof PARTS)[number], ran: readonly Result[]): string[] {
  const all = ran.filter(({ server }) => names.includes(server));
  const [servers, clients] = [all.filter(({ client }) => !client), all.filter(({ client }) => client)];
  const tables = [
    ...(servers.length > 0 ? [serverTable(servers)] : []),
    ...(clients.length > 0 ? [clientTable(clients)] : []),
  ];
  return tables.length > 0 ? [`## ${title}`, ...tables] : [];
}

function serverTable(ran: readonly Result[]): string {
  const rows = ran.map((result) =>
    line(
      ...[titled(result.server, result.version), result.from, `\`${result.suite}\``, versionsOf(result) || 'its own'],
      ...[result.runtime, result.date.slice(0, 10), result.passed, result.failed, result.skipped],
    ),
  );
  const head = ['server', 'from', 'tests', 'client', 'runtime', 'date', 'passed', 'failed', 'skipped'];
  return [...headed(...head), ...rows].join('\n');
}

/** A line for each client on each server in each runtime, with its settings. Those that failed say so. */
function clientTable(ran: readonly Result[]): string {
  const lines = Map.groupBy(ran, (result) =>
    line(
      ...[result.client, versionsOf(result) || 'its own', titled(result.server, result.version), result.runtime],
      result.date.slice(0, 10),
    ),
  );
  const rows = [...lines].map(([start, results]) => {
    const settings = results.map(({ setting, passed, failed }) =>
      failed > 0 ? `${setting} (${failed} of ${passed + failed} failed)` : setting,
    );
    return `${start} ${settings.join('; ')} |`;
  });
  return [...headed('client', 'version', 'server', 'runtime', 'date', 'passed'), ...rows].join('\n');
}

export const writeCompatibility = (): void => writeFileSync(PAGE, compatibility(cells, readResults()));
