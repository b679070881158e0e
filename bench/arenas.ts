import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { connect } from '../src/connect/index.ts';
import { ENGINES } from '../test/kit/engines.ts';
import { startEtcd } from '../test/kit/etcd.ts';
import { temporaryFolder } from '../test/kit/folder.ts';
import { startMariadb } from '../test/kit/mariadb.ts';
import { startPostgres } from '../test/kit/postgres.ts';
import { startProxy } from '../test/kit/proxy.ts';
import { askRedis, startRedis, startRedisNodes } from '../test/kit/redis.ts';
import type { Server } from '../test/kit/server.ts';
import { ALL_SITES, type SiteName, type SitePlan } from '../test/kit/sites.ts';
import { until } from '../test/kit/wait.ts';
import { startZookeeper } from '../test/kit/zookeeper.ts';
import type { Arena, Group } from './row.ts';

const NOWHERE = { port: 0, path: '', url: '' };

/** Of the link that stands for a server in another room: one way, ms. */
const ONE_WAY = 1.25;

async function folder(): Promise<Arena> {
  const { path, [Symbol.dispose]: remove } = temporaryFolder();
  return { place: { ...NOWHERE, path }, [Symbol.asyncDispose]: async () => remove() };
}

/** Those whose SET is a command of its own; that of the others is inside a script. */
const SETS = new Set(['bare', 'bare, counter', 'redis-semaphore', 'verrou']);

/** Commands that clients sent to this Redis since the last look. */
async function sentTo(port: number, contestant: string): Promise<number> {
  const stats = await askRedis(port, 'INFO commandstats');
  await askRedis(port, 'CONFIG RESETSTAT');
  const sent = SETS.has(contestant)
    ? /cmdstat_(?:evalsha|eval|set):calls=(\d+)/g
    : /cmdstat_(?:evalsha|eval):calls=(\d+)/g;
  return [...stats.matchAll(sent)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

async function redis(): Promise<Arena> {
  await using stack = new AsyncDisposableStack();
  const { port, pid } = stack.use(await startRedis());
  const proxy = stack.use(await startProxy(port));
  proxy.delay(ONE_WAY);
  const all = stack.move();
  return {
    place: { ...NOWHERE, port },
    far: { ...NOWHERE, port: proxy.port },
    servers: [pid],
    commands: (contestant) => sentTo(port, contestant),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Five that have been a quorum before, of which the first `stopped` stand still by now. Another Redis stands beside them. */
async function redlock(stopped: number): Promise<Arena> {
  await using stack = new AsyncDisposableStack();
  const nodes = stack.use(await startRedisNodes(5));
  const other = stack.use(await startRedis());
  // New nodes count when all were heard: those that hang from the first moment might be all that remember something.
  await using before = await connect(nodes.servers.map(({ url }) => url));
  await before.mutex('before').run(async () => {});
  for (const node of nodes.servers.slice(0, stopped)) node.pause();
  const all = stack.move();
  return {
    place: { ...NOWHERE, port: other.port, url: nodes.servers.map(({ port }) => port).join() },
    servers: nodes.servers.map(({ pid }) => pid),
    async commands(contestant) {
      const sent = await Promise.all(nodes.servers.slice(stopped).map(({ port }) => sentTo(port, contestant)));
      return sent.reduce((sum, count) => sum + count);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function server(
  start: () => Promise<Server>,
  urlOf = ({ url }: Server): string => url,
  deadlocks?: (url: string) => Promise<number>,
): Promise<Arena> {
  const started = await start();
  const { port, url } = started;
  return {
    place: { path: '', port, url: urlOf(started) },
    ...(deadlocks && { deadlocks: () => deadlocks(url) }),
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  };
}

/** A session adds what it saw to the sums when it ends, at the latest. */
async function postgresDeadlocks(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  const ask = async (text: string): Promise<number> => Number((await client.query(text)).rows[0].n);
  const OTHERS =
    "SELECT count(*) AS n FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
  await until('nobody is connected', async () => (await ask(OTHERS)) === 0);
  const deadlocks = await ask('SELECT sum(deadlocks) AS n FROM pg_stat_database');
  await client.end();
  return deadlocks;
}

/** MariaDB's own defaults. The kit's are small, to start quickly: a redo log of 4 MB is soon full, and then all wait for its end. */
const ITS_OWN = { 'innodb-log-file-size': '96M', 'innodb-buffer-pool-size': '128M' };

async function mariadbDeadlocks(url: string): Promise<number> {
  const client = await createConnection(url);
  const [rows] = await client.query("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'");
  await client.end();
  return Number((rows as { Value: string }[])[0]!.Value);
}

const address = ({ host, port }: Server): string => `${host}:${port}`;

/** Servers that are set up for it. */
const own: Readonly<Record<Group, () => Promise<Arena>>> = {
  memory: folder,
  file: folder,
  redis,
  redlock: () => redlock(0),
  'redlock-hung': () => redlock(2),
  stock: redis,
  postgres: () => server(startPostgres, undefined, postgresDeadlocks),
  mysql: () => server(() => startMariadb(ITS_OWN), undefined, mariadbDeadlocks),
  etcd: () => server(startEtcd, address),
  zookeeper: () => server(startZookeeper, address),
};

/** An engine as all tests start it. */
async function connected({ start }: SitePlan): Promise<Arena> {
  const site = await start();
  return { place: { ...NOWHERE, url: site.url }, [Symbol.asyncDispose]: async () => site[Symbol.asyncDispose]() };
}

export const arenas: Readonly<Record<Group, () => Promise<Arena>>> = {
  ...Object.fromEntries(
    Object.values(ALL_SITES)
      .filter(({ engine }) => !ENGINES[engine].unmeasured)
      .map((site) => [site.engine, () => connected(ALL_SITES[site.engine as SiteName])]),
  ),
  ...own,
};
