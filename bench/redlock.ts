/**
 * Redlock over five Redis against a hand-written parallel floor on the same clients: five `SET NX PX` at once, then five
 * compare-and-delete. Healthy, with two of five stopped, and contended by two processes of five callers.
 *   node bench/redlock.ts
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { redlock } from '../src/backends/redlock/index.ts';
import { createLocks } from '../src/index.ts';
import { startRedisNodes } from '../test/kit/redis.ts';

const ROUNDS = 7;
const CYCLES = 400;
const CALLERS = 5;
const CONTEND = 3_000;
const WORK = 1;
const TTL = 10_000;
const DELETE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

type Client = Redis & { compareAndDelete(key: string, id: string): Promise<number> };

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function connect(port: number): Client {
  const client = new Redis({ port, host: '127.0.0.1' });
  client.on('error', () => {});
  client.defineCommand('compareAndDelete', { numberOfKeys: 1, lua: DELETE });
  return client as Client;
}

/** Resolves when three of five say yes, or three cannot any more. */
function majority(answers: readonly Promise<boolean>[]): Promise<boolean> {
  return new Promise((resolve) => {
    let yes = 0;
    let no = 0;
    const count = (good: boolean): void => {
      if (good && ++yes === 3) resolve(true);
      else if (!good && ++no === 3) resolve(false);
    };
    for (const answer of answers) answer.then(count, () => count(false));
  });
}

let ids = 0;
async function bareAcquire(clients: readonly Client[], key: string): Promise<string | undefined> {
  const id = `${process.pid}-${ids++}-${Math.random()}`;
  const got = await majority(
    clients.map((client) => client.set(key, id, 'PX', TTL, 'NX').then((reply) => reply === 'OK')),
  );
  if (got) return id;
  void bareRelease(clients, key, id);
  return undefined;
}

const bareRelease = (clients: readonly Client[], key: string, id: string): Promise<boolean> =>
  majority(clients.map((client) => client.compareAndDelete(key, id).then(() => true)));

async function perSecond(cycle: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  for (let i = 0; i < CYCLES; i++) await cycle();
  return (CYCLES * 1_000) / (performance.now() - began);
}

async function uncontended(title: string, ports: readonly number[], wanted: number): Promise<void> {
  const clients = ports.map(connect);
  const locks = createLocks(redlock(clients));
  let fresh = 0;
  const ways: Record<string, () => Promise<unknown>> = {
    floor: async () => bareRelease(clients, 'floor', (await bareAcquire(clients, 'floor')) ?? ''),
    'one key': async () => (await locks.mutex('one').acquire({ ttl: TTL })).release(),
    'new keys': async () => (await locks.mutex(`new-${fresh++}`).acquire({ ttl: TTL })).release(),
  };
  const speeds = new Map<string, number[]>(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, cycle] of Object.entries(ways)) {
      const speed = await perSecond(cycle);
      if (round > 0) speeds.get(name)!.push(speed); // the first warms up
    }
  }
  const floor = median(speeds.get('floor')!);
  for (const [name, measured] of speeds) {
    const speed = median(measured);
    console.log(
      `${title}, ${name}: ${speed.toFixed(0)} cycles/s, ${(speed / floor).toFixed(2)} × floor (at least ${wanted} wanted)`,
    );
  }
  await locks.close();
  for (const client of clients) client.disconnect();
}

interface Tally {
  /** Sections of each caller. */
  readonly sections: readonly number[];
  readonly longestWait: number;
}

/** What one of two processes does: five callers on one key. */
async function contender(way: string, ports: readonly number[]): Promise<Tally> {
  const clients = ports.map(connect);
  const locks = createLocks(redlock(clients));
  await bareRelease(clients, 'contended', 'nobody');
  const until = performance.now() + CONTEND;
  const sections: number[] = [];
  let longestWait = 0;
  const caller = async (n: number): Promise<void> => {
    sections[n] = 0;
    while (performance.now() < until) {
      const began = performance.now();
      if (way === 'floor') {
        let id = await bareAcquire(clients, 'contended');
        while (id === undefined && performance.now() < until) {
          await sleep(5 * (0.5 + Math.random()));
          id = await bareAcquire(clients, 'contended');
        }
        if (id === undefined) return;
        longestWait = Math.max(longestWait, performance.now() - began);
        await sleep(WORK);
        await bareRelease(clients, 'contended', id);
      } else {
        await using _ = await locks.mutex('contended').acquire({ ttl: TTL });
        longestWait = Math.max(longestWait, performance.now() - began);
        await sleep(WORK);
      }
      sections[n]!++;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, n) => caller(n)));
  await locks.close();
  for (const client of clients) client.disconnect();
  return { sections, longestWait };
}

async function contended(ports: readonly number[]): Promise<void> {
  const totals: Record<string, number[]> = { floor: [], ours: [] };
  for (let round = 0; round < 3; round++) {
    for (const way of ['floor', 'ours']) {
      const children = [1, 2].map(() => fork(import.meta.filename, [way, ports.join()]));
      const tallies = (await Promise.all(children.map(async (child) => (await once(child, 'message'))[0]))) as Tally[];
      const sections = tallies.flatMap((tally) => tally.sections);
      const total = sections.reduce((a, b) => a + b);
      totals[way]!.push(total);
      const longest = Math.max(...tallies.map(({ longestWait }) => longestWait));
      console.log(
        `contended, ${way}: ${total} sections, per caller ${Math.min(...sections)} to ${Math.max(...sections)}, longest wait ${longest.toFixed(0)} ms`,
      );
    }
  }
  const ratio = median(totals.ours!) / median(totals.floor!);
  console.log(`contended: ${ratio.toFixed(2)} × floor (at least 1 wanted)`);
}

const [way, ports] = process.argv.slice(2);
if (way && ports) {
  process.send!(await contender(way, ports.split(',').map(Number)));
  process.disconnect();
} else {
  await using nodes = await startRedisNodes(5);
  const all = nodes.servers.map(({ port }) => port);
  await uncontended('healthy', all, 0.95);
  await contended(all);
  for (const server of nodes.servers.slice(0, 2)) server.pause();
  await uncontended('two hung', all, 0.9);
  for (const server of nodes.servers.slice(0, 2)) server.resume();
}
