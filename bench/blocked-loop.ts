/**
 * Redis: what becomes of 10,000 holds whose process has a blocked event loop, with `renewal: 'worker'` and without it, and what the worker
 * costs. A loop is blocked for 0 to 10 leases, at drawn times. Blocked means asleep here, so the processor time is the worker's.
 * Run: `node bench/blocked-loop.ts`
 */
import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../products/testing/random.ts';
import { connect } from '../src/connect/index.ts';
import { askRedis, startRedis } from '../test/kit/redis.ts';

const HOLDS = 10_000;
/** Of the losses, ms; and of the costs, which are those of the default. */
const TTL = 2_000;
const DEFAULT_TTL = 30_000;
const STALLS = 8;
const SEED = 20_261_125;

interface Figures {
  readonly lost: number;
  readonly blocked: string;
  /** Per cent of a core, of the whole process: while the loop is blocked, and while it runs. */
  readonly cpu: { readonly blocked: string; readonly running: string };
  /** MB of the process, with all holds. */
  readonly memory: string;
}

const block = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

function cpuSince(began: NodeJS.CpuUsage, ms: number): string {
  const { user, system } = process.cpuUsage(began);
  return ((user + system) / 10 / ms).toFixed(2);
}

async function measure(url: string, renewal: 'worker' | undefined): Promise<Figures> {
  const random = randomFrom(SEED);
  await using locks = await connect(url, { renewal });
  const take = (ttl: number) =>
    Promise.all(Array.from({ length: HOLDS }, (_, i) => locks.mutex(`hold:${i}`).acquire({ ttl })));
  const quick = await take(TTL);
  const stalls: number[] = [];
  for (let i = 0; i < STALLS; i++) {
    await sleep(random() * TTL);
    stalls.push(random() * 10 * TTL);
    block(stalls.at(-1)!);
  }
  await sleep(TTL);
  const lost = quick.filter((lease) => !lease.held || lease.signal.aborted).length;
  await Promise.all(quick.map((lease) => lease.release()));
  const leases = await take(DEFAULT_TTL);
  let began = process.cpuUsage();
  await sleep(DEFAULT_TTL / 2);
  const running = cpuSince(began, DEFAULT_TTL / 2);
  const memory = (process.memoryUsage.rss() / 1e6).toFixed(0);
  began = process.cpuUsage();
  block(1.5 * DEFAULT_TTL);
  const blocked = cpuSince(began, 1.5 * DEFAULT_TTL);
  await Promise.all(leases.map((lease) => lease.release()));
  return { lost, blocked: stalls.map((ms) => (ms / TTL).toFixed(1)).join(' '), cpu: { blocked, running }, memory };
}

const [url, renewal] = process.argv.slice(2);
if (url) {
  process.send!(await measure(url, renewal === 'worker' ? 'worker' : undefined));
  process.disconnect();
} else {
  for (const renewal of ['loop', 'worker']) {
    await using server = await startRedis();
    const child = fork(new URL(import.meta.url), [server.url, renewal]);
    const [figures] = await Promise.all([
      new Promise<Figures>((resolve, reject) => {
        child.once('message', resolve);
        child.once('exit', () => reject(new Error('it ended without figures')));
      }),
      new Promise((resolve) => child.once('exit', resolve)),
    ]);
    const commands = /total_commands_processed:(\d+)/.exec(await askRedis(server.port, 'INFO stats'))?.[1];
    console.log(`renewed by the ${renewal}: ${JSON.stringify({ ...figures, commands })}`);
  }
}
