/**
 * A large fleet that waits for one key: what 10, 100 and 1,000 processes cost the server of Redis, PostgreSQL and etcd while they stand by, and
 * how they are served once the key is free. Then their connections are ended while all wait (etcd: it is started again), and all are served again.
 * Ten workers are processes of the machine. Each stands for a tenth of the fleet: one `createLocks` with connections of its own for each of them.
 *
 *   node --disable-warning=ExperimentalWarning bench/large-fleet.ts [--publish] [engine…] [sizes, default 10,100,1000]
 *
 * 1,000 processes on PostgreSQL are 2,000 sessions and take some gigabytes.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../src/connect/index.ts';
import type { Locks } from '../src/index.ts';
import { startWorker, type WorkerProcess } from '../test/kit/processes.ts';
import type { Server } from '../test/kit/server.ts';
import { until } from '../test/kit/wait.ts';
import { connectionsTo, ENGINES, type FleetEngine, memoryOf, timeTaken } from './loads/fleet-engines.ts';
import { FLEETS, fleetEntry, LARGE_FLEET } from './pages/commands.ts';
import { readFigures } from './pages/figures.ts';
import { publish } from './pages/publish.ts';
import { median } from './verdict.ts';
import type { BenchWorker } from './worker.ts';

const WORKERS = 10;
const SIZES = [10, 100, 1_000];
/** ms that a fleet may take to connect, to wait, and to be served. */
const PATIENCE = 90_000;
/** The fleet comes one after the other, as a deployment does: ms for each. */
const ARRIVAL = 60;
/** Of the measurement while all wait: a waiter gives a sign of life every two seconds. ms. */
const SETTLING = 6_000;
const STANDING_BY = 12_000;

interface Figures extends Readonly<Record<string, number>> {
  readonly connections: number;
  /** MB of the server: how much more it has than without the fleet. */
  readonly memory: number;
  /** A second, of each process that waits. */
  readonly standingBy: number;
  /** Of the server, µs a second for each process that waits. */
  readonly time: number;
  /** Until all were served once, s. */
  readonly serving: number;
  /** Requests for each that was served. */
  readonly requests: number;
  /** After all connections were ended while all wait: until all were there again, s. */
  readonly reconnecting: number;
  /** Then until all were served once, s, and requests for each from the end of the connections until then. */
  readonly servingAgain: number;
  readonly requestsAgain: number;
  /** That got an error in this time. */
  readonly failed: number;
}

interface Fleet {
  readonly server: Server;
  readonly engine: FleetEngine;
  readonly processes: number;
  readonly workers: readonly WorkerProcess<BenchWorker>[];
  readonly locks: Locks;
  readonly key: string;
}

function refuse(failed: readonly string[]): void {
  if (failed.length > 0) throw new Error(`${failed.length} were not served: ${failed[0]}`);
}

/** All of the fleet wait for the key, which is held. */
async function waits({ workers, locks, key, processes }: Fleet): Promise<void> {
  await Promise.all(workers.map((worker) => worker.call('ask', 'shared', processes / WORKERS, processes * ARRIVAL)));
  const waiting = async (): Promise<number> => {
    let claims = 0;
    for await (const claim of locks.inspect(key)) claims += claim.held ? 0 : 1;
    return claims;
  };
  let failed: readonly string[] = [];
  const all = async (): Promise<boolean> => {
    failed = (await Promise.all(workers.map((worker) => worker.call('failed')))).flat();
    return failed.length > 0 || (await waiting()) === processes;
  };
  await until(`${processes} processes wait`, all, PATIENCE);
  refuse(failed);
}

interface Round {
  readonly seconds: number;
  /** Requests for each of them. */
  readonly requests: number;
  readonly failed: readonly string[];
}

/** All are served once. */
async function serves({ server, engine, processes, workers }: Fleet, release: () => unknown): Promise<Round> {
  const before = await engine.requests(server);
  const began = performance.now();
  await release();
  const done = await Promise.all(workers.map((worker) => worker.call('served')));
  const seconds = (performance.now() - began) / 1_000;
  const requests = ((await engine.requests(server)) - before) / processes;
  return { seconds, requests, failed: done.flatMap(({ failed }) => failed) };
}

async function measured(fleet: Fleet, without: number): Promise<Figures> {
  const { server, engine, processes, locks, key } = fleet;
  const held = await locks.mutex(key).acquire();
  await waits(fleet);
  await sleep(SETTLING);
  const [connections, memory] = [connectionsTo(server), memoryOf(server) - without];
  const asked = await engine.requests(server);
  const time = (await timeTaken(server, STANDING_BY)) / processes / (STANDING_BY / 1_000);
  const standingBy = ((await engine.requests(server)) - asked) / processes / (STANDING_BY / 1_000);
  const first = await serves(fleet, () => held.release());
  const rounds = [first];
  // A small fleet is served too soon for one round to say much.
  while (rounds.length * processes < 200) {
    const again = await locks.mutex(key).acquire();
    await waits(fleet);
    rounds.push(await serves(fleet, () => again.release()));
  }
  for (const round of rounds) refuse(round.failed);
  const figures = {
    connections,
    memory,
    standingBy,
    time,
    serving: median(rounds.map(({ seconds }) => seconds)),
    requests: median(rounds.map(({ requests }) => requests)),
  };
  console.log(JSON.stringify(figures));
  const last = await locks.mutex(key).acquire();
  await waits(fleet);
  const cutAt = performance.now();
  const beforeCut = await engine.requests(server);
  await engine.cut(server);
  await until('all are connected again', () => connectionsTo(server) >= connections - 2, PATIENCE);
  const reconnecting = (performance.now() - cutAt) / 1_000;
  await sleep(SETTLING);
  const { seconds: servingAgain, failed } = await serves(fleet, () => last.release());
  if (failed.length > 0) console.log(`  ${failed.length} failed: ${failed[0]}`);
  const after = await engine.requests(server);
  const requestsAgain = (after - (after < beforeCut ? 0 : beforeCut)) / processes;
  const again = { reconnecting, servingAgain, requestsAgain, failed: failed.length };
  console.log(JSON.stringify(again));
  return { ...figures, ...again };
}

async function large(name: string, processes: number): Promise<Figures> {
  const engine = ENGINES[name]!;
  await using server = await engine.start(processes);
  const place = { port: server.port, path: '', url: name === 'etcd' ? `${server.host}:${server.port}` : server.url };
  await using locks = await connect(server.url, { wait: 'forever' });
  await locks.mutex('before').run(() => engine.requests(server));
  const without = memoryOf(server);
  await using stack = new AsyncDisposableStack();
  const run = randomUUID();
  const opening = Array.from({ length: WORKERS }, async () => {
    const worker = stack.use(await startWorker<BenchWorker>(new URL('worker.ts', import.meta.url)));
    await worker.call('open', name, 'fleet', { ...place, seat: processes / WORKERS, run });
    return worker;
  });
  const workers = await Promise.all(opening);
  return await measured({ server, engine, processes, workers, locks, key: `${run}:shared` }, without);
}

const words = process.argv.slice(2).filter((word) => word !== '--publish');
const sizes =
  words
    .find((word) => /^\d/.test(word))
    ?.split(',')
    .map(Number) ?? SIZES;
const engines = words.filter((word) => word in ENGINES);
for (const name of engines.length > 0 ? engines : Object.keys(FLEETS)) {
  const entries: Record<string, Record<string, number>> = {};
  let first: number | undefined;
  for (const processes of sizes) {
    console.log(`${name}, ${processes} processes`);
    const figures = await large(name, processes);
    const pace = processes / figures.serving;
    first ??= pace;
    entries[fleetEntry(name, processes)] = { ...figures, pace: pace / first };
    console.log(`  ${(pace / first).toFixed(2)} × the pace of ${sizes[0]}`);
  }
  if (process.argv.includes('--publish')) publish(LARGE_FLEET, { ...readFigures()[LARGE_FLEET]?.entries, ...entries });
}
