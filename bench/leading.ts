/**
 * Leading: what candidates cost that wait, and how long a hand-over takes. Requests as the servers count them, a second, for five processes'
 * worth of candidates; hand-overs between two processes, from the last word of the one that ends to the first of the next.
 * Run: `node --disable-warning=ExperimentalWarning bench/leading.ts [--publish] [engine…]`
 */
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { connect } from '../src/connect/index.ts';
import { Monitor } from '../test/kit/monitor.ts';
import { exchange } from '../test/kit/net.ts';
import { startPostgres } from '../test/kit/postgres.ts';
import { askRedis, startRedisNodes } from '../test/kit/redis.ts';
import { whyNot } from '../test/kit/selection.ts';
import { Instance } from '../test/leading/instance.ts';
import { ALL, type LeadingEngine, SITES, type Site } from '../test/leading/sites.ts';
import { HAND_OVER, CANDIDATES as WAITING } from './pages/commands.ts';
import { publish } from './pages/publish.ts';
import { median } from './verdict.ts';

const ELECTIONS = 10;
const CANDIDATES = 50;
/** Long enough for the signs of life to be those of a usual lease. ms. */
const TTL = 30_000;
const MEASURED = 10_000;
/** So long after they began, candidates wait as they do for days. ms. */
const IDLE = 60_000;
const HAND_OVERS = 41;

const number = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1]);

async function sql(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  const { rows } = await client.query('SELECT sum(calls)::int AS n FROM pg_stat_statements');
  await client.end();
  return rows[0].n;
}

async function questions(url: string): Promise<number> {
  const client = await mysql.createConnection(url);
  const [rows] = await client.query("SHOW GLOBAL STATUS LIKE 'Questions'");
  await client.end();
  return Number((rows as { Value: string }[])[0]!.Value);
}

const monitors = new Map<number, Monitor>();

/** Commands of clients since the first look at this Redis. */
async function monitored(port: number): Promise<number> {
  const monitor = monitors.get(port) ?? (await Monitor.start(port));
  monitors.set(port, monitor);
  return monitor.count;
}

/** Requests so far, as the servers count them. */
const REQUESTS: Partial<Record<LeadingEngine, (site: Site) => Promise<number>>> = {
  async redis({ ports }) {
    const told = await askRedis(ports[0]!, 'INFO commandstats');
    const calls = [...told.matchAll(/^cmdstat_(evalsha|eval|subscribe|publish):calls=(\d+)/gm)];
    return calls.reduce((sum, [, , count]) => sum + Number(count), 0);
  },
  redlock: async ({ ports }) => (await Promise.all(ports.map(monitored))).reduce((sum, count) => sum + count),
  postgres: ({ url }) => sql(url),
  mysql: ({ url }) => questions(url),
  async etcd({ ports }) {
    const metrics = await exchange(ports[0]!, 'GET /metrics HTTP/1.0\r\n\r\n');
    const counts = metrics.matchAll(/^grpc_server_started_total\{.*\} (\d+)/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  },
  zookeeper: async ({ ports }) => number(await exchange(ports[0]!, 'srvr'), /Received: (\d+)/),
};

async function idle(engine: LeadingEngine, site: Site, requests: (site: Site) => Promise<number>): Promise<number> {
  const stop = new AbortController();
  const url = site.url.replace(/sessionTimeout=\d+/, `sessionTimeout=${TTL}`);
  const processes = await Promise.all(Array.from({ length: CANDIDATES / ELECTIONS }, () => connect(url)));
  const runs = processes.flatMap((locks) =>
    Array.from({ length: ELECTIONS }, (_, i) =>
      locks
        .leader(`election ${i}`, { ttl: TTL })
        .run(({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)), {
          signal: stop.signal,
        }),
    ),
  );
  await sleep(IDLE);
  const before = await requests(site);
  await sleep(MEASURED);
  const asked = (((await requests(site)) - before) * 1_000) / MEASURED;
  console.log(`${engine}: ${CANDIDATES} candidates of ${ELECTIONS} elections: ${asked.toFixed(1)} requests/s`);
  stop.abort();
  await Promise.all(runs);
  await Promise.all(processes.map((locks) => locks.close()));
  return asked;
}

async function handOvers(engine: LeadingEngine, site: Site): Promise<{ handOver: number; killed: number }> {
  const sites = new Map([[engine, site]]);
  const took: number[] = [];
  let [leads, waits] = [await Instance.start(sites), await Instance.start(sites)];
  const options = { ttl: 5_000, label: 'same' };
  await leads.on(engine).campaign('hand-over', options);
  await leads.on(engine).heard('elected', 'hand-over');
  for (let i = 0; i < HAND_OVERS; i++) {
    await waits.on(engine).campaign('hand-over', options);
    while ((await leads.on(engine).waiting('hand-over')) === 0) await sleep(5);
    await leads.on(engine).stop('hand-over');
    const [settled, next] = [
      await leads.on(engine).heard('settled', 'hand-over'),
      await waits.on(engine).heard('elected', 'hand-over'),
    ];
    took.push(next.at - settled.at);
    [leads, waits] = [waits, leads];
  }
  const killed: number[] = [];
  for (let i = 0; i < 3; i++) {
    await waits.on(engine).campaign('hand-over', options);
    while ((await leads.on(engine).waiting('hand-over')) === 0) await sleep(5);
    await sleep(2_500); // renewed at least once
    const at = Number(process.hrtime.bigint()) / 1e6;
    await leads.worker.kill();
    killed.push((await waits.on(engine).heard('elected', 'hand-over', 20_000)).at - at);
    await leads[Symbol.asyncDispose]();
    [leads, waits] = [waits, await Instance.start(sites)];
  }
  const p50 = median(took);
  const p95 = took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.95)]!;
  const kills = killed.map((ms) => ms.toFixed(0)).join(', ');
  console.log(
    `${engine}: hand-over p50 ${p50.toFixed(2)} ms, p95 ${p95.toFixed(2)} ms; after kill −9, with a ttl of ${options.ttl} ms: ${kills} ms`,
  );
  for (const instance of [leads, waits]) await instance[Symbol.asyncDispose]();
  return { handOver: p50, killed: median(killed) };
}

/** PostgreSQL counts statements only with an extension. Redlock has five nodes, as it is used. */
async function started(engine: LeadingEngine): Promise<Site> {
  if (engine === 'redlock') {
    const nodes = await startRedisNodes(5);
    const ports = nodes.servers.map(({ port }) => port);
    return { url: nodes.url, ports, [Symbol.asyncDispose]: () => nodes[Symbol.asyncDispose]() };
  }
  if (engine !== 'postgres') return SITES[engine]();
  const server = await startPostgres({ shared_preload_libraries: 'pg_stat_statements' });
  return { url: server.url, ports: [server.port], [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose]() };
}

const only = process.argv.slice(2).filter((word) => word !== '--publish');
const asked: Record<string, { requests: number }> = {};
const passed: Record<string, { handOver: number; killed: number }> = {};
for (const engine of ALL) {
  if (only.length > 0 ? !only.includes(engine) : whyNot(engine, [engine])) continue;
  const site = await started(engine);
  const requests = REQUESTS[engine];
  if (requests) asked[engine] = { requests: await idle(engine, site, requests) };
  if (engine === 'redis' || engine === 'file') passed[engine] = await handOvers(engine, site);
  await site[Symbol.asyncDispose]();
}
if (process.argv.includes('--publish')) {
  publish(WAITING, asked);
  publish(HAND_OVER, passed);
}
