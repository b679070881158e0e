/**
 * PostgreSQL: what hand-overs of one key cost beside a fleet, and what the insert of a bystander takes meanwhile.
 *
 *   node bench/postgres-fleet.ts [--publish] [rounds, default 3] [processes that waited once, default 500] [that all wait, default 100]
 *
 * Callers in four workers, five a process, 1 ms of work, with hand-off inside a process and without. Before version 19 the server wakes
 * every session of a database that listens, at each NOTIFY. The fleet is on a server of its own, so that all can be measured by turns.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { postgres } from '../src/backends/postgres/index.ts';
import { createLocks } from '../src/index.ts';
import { startPostgres } from '../test/kit/postgres.ts';
import { startWorker, type WorkerProcess } from '../test/kit/processes.ts';
import type { Server } from '../test/kit/server.ts';
import { until } from '../test/kit/wait.ts';
import { POSTGRES_FLEET } from './pages/commands.ts';
import { publish } from './pages/publish.ts';
import { median } from './verdict.ts';
import type { BenchWorker } from './worker.ts';

const [rounds = 3, once = 500, all = 100] = process.argv
  .slice(2)
  .filter((word) => word !== '--publish')
  .map(Number);
const WORKERS = 4;
const CALLERS = 5;
const WARM_UP_MS = 3_000;
const MS = 4_000;
/** A worker gives up to drain after 3 s, and 500 callers may take longer. */
const MAX_DRAINS = 5;
/** ms that 500 processes may take to connect, and to be served. Those that wait for nothing listen for up to 30 s more. */
const PATIENCE = 90_000;
const LISTENERS = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name LIKE '% holdfast listens'";

type Worker = WorkerProcess<BenchWorker>;

/** Starts `count` workers, each of which stands for `processes` processes. */
function opened(stack: AsyncDisposableStack, server: Server, count: number, processes: number, how = 'fleet') {
  const place = { port: 0, path: '', url: server.url, seat: processes, run: randomUUID() };
  const opening = Array.from({ length: count }, async (): Promise<Worker> => {
    const worker = stack.use(await startWorker<BenchWorker>(new URL('worker.ts', import.meta.url)));
    await worker.call('open', 'postgres', how, place);
    return worker;
  });
  return Promise.all(opening).then((workers) => ({ workers, key: `${place.run}:shared:0` }));
}

const planOf = (callers: number, ms: number) => ({ callers, own: false, keys: 1, work: 1, every: 1, ms });

/** `p99` of inserts that come every few ms. */
async function bystander(server: Server, ms: number): Promise<number> {
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query('CREATE TABLE IF NOT EXISTS bystander (n int)');
  const times: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end; ) {
    const began = performance.now();
    await client.query('INSERT INTO bystander VALUES (1)');
    times.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await client.end();
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
}

interface Figures extends Readonly<Record<string, number>> {
  /** Sections a second. */
  readonly rate: number;
  /** Of the bystander, ms. */
  readonly p99: number;
}

/** So many processes that all want one key. */
async function handOvers(server: Server, processes: number, how: string): Promise<Figures> {
  await using stack = new AsyncDisposableStack();
  const { workers } = await opened(stack, server, WORKERS, processes / WORKERS, how);
  const cycles = (ms: number) => {
    const plan = planOf((CALLERS * processes) / WORKERS, ms);
    return Promise.all(workers.map((worker) => worker.call('cycles', plan)));
  };
  await cycles(WARM_UP_MS);
  for (let n = 0; n < MAX_DRAINS; n++) await Promise.all(workers.map((worker) => worker.call('drained')));
  const [runs, p99] = await Promise.all([cycles(MS), bystander(server, MS)]);
  return { rate: runs.reduce((sum, { sections, ms }) => sum + (sections / ms) * 1_000, 0), p99 };
}

/** Processes that waited for a key at a time. Resolves when they have had it, and listen to nothing. */
async function idleFleet(stack: AsyncDisposableStack, server: Server): Promise<void> {
  const pool = new pg.Pool({ connectionString: server.url, max: 2 });
  const locks = createLocks(postgres(pool));
  const listeners = async (): Promise<number> => (await pool.query(LISTENERS)).rows[0].n;
  const { workers, key } = await opened(stack, server, 1, once);
  const lease = await locks.mutex(key).acquire();
  await workers[0]!.call('cycles', planOf(once, 2_000));
  await until('all of the fleet wait', async () => (await listeners()) >= once, PATIENCE);
  await lease.release();
  await until('none of the fleet listens', async () => (await listeners()) === 0, PATIENCE);
  await locks.close();
  await pool.end();
}

await using stack = new AsyncDisposableStack();
const alone = stack.use(await startPostgres({ fsync: 'off', max_connections: `${3 * all + 50}` }));
const beside = stack.use(await startPostgres({ fsync: 'off', max_connections: `${3 * once + 50}` }));
await idleFleet(stack, beside);
console.log(`beside ${once} processes that waited once, and with ${all} that all wait: × four processes alone`);
const ratios: Record<string, Figures> = {};
for (const how of ['fleet', 'fleet, no hand-off']) {
  const measured: Record<'base' | 'beside' | 'waiting', Figures>[] = [];
  for (let round = 0; round < rounds; round++) {
    const base = await handOvers(alone, WORKERS, how);
    const results = { beside: await handOvers(beside, WORKERS, how), waiting: await handOvers(alone, all, how) };
    console.log(`  ${how}: ${JSON.stringify({ base, ...results })}`);
    measured.push({ base, ...results });
  }
  for (const which of ['beside', 'waiting'] as const) {
    const of = (figure: 'rate' | 'p99') => median(measured.map((round) => round[which][figure] / round.base[figure]));
    const { rate, p99 } = { rate: of('rate'), p99: of('p99') };
    ratios[`${how}, ${which}`] = { rate, p99 };
    console.log(`${how}, ${which}: ${rate.toFixed(2)} × the rate, ${p99.toFixed(2)} × the p99 of an insert`);
  }
}
if (process.argv.includes('--publish')) publish(POSTGRES_FLEET, ratios);
