/**
 * What the page of `holdfast ui` costs: npm run build && node bench/ui.ts redis [live locks, default 100,000] [looks, default 3]
 *
 * The built command is started on a server that has so many live locks, one page looks on, and three of its keys are open. Told
 * are the time from the page's first request to its first rows and to the end of the first look, the part of the engine's processor
 * time that the page takes after that (what the engine takes by itself was measured before, and is taken off), and the largest memory
 * of the process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import type { Snapshot } from '../products/ui/wire.ts';
import { redis } from '../src/backends/redis/index.ts';
import { wish } from '../test/backends/redis/scene.ts';
import { HOST } from '../test/kit/net.ts';
import { startRedis } from '../test/kit/redis.ts';
import { until } from '../test/kit/wait.ts';

const [engine = 'redis', ...figures] = process.argv.slice(2);
const [count = 100_000, looks = 3] = figures.map(Number);
const MAIN = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
/** Locks that are taken at once. */
const AT_ONCE = 1_000;
const DAY = 86_400_000;
/** A look and the pause after it, ms. */
const LONGEST_CYCLE = 400_000;

if (engine !== 'redis') throw new Error(`${JSON.stringify(engine)} is not measured here: there is redis`);
if (!existsSync(MAIN)) throw new Error('the command is not built: npm run build');

await using server = await startRedis();
const client = new Redis(server.port, HOST);
const backend = redis(client);
const keyOf = (i: number): string => `tenant-${i % 50}:order:${i}`;
for (let i = 0; i < count; i += AT_ONCE) {
  const keys = Array.from({ length: Math.min(AT_ONCE, count - i) }, (_, j) => keyOf(i + j));
  await Promise.all(keys.map((key) => backend.attempt({ ...wish(key), ttl: DAY, label: `web-${i % 7}:4177 worker` })));
}
for (let i = 0; i < 5; i++) await backend.attempt({ ...wish(keyOf(1)), ttl: DAY });

/** Seconds of processor time of the server so far. */
async function busy(): Promise<number> {
  const info = await client.info('cpu');
  return [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].reduce((sum, [, text]) => sum + Number(text), 0);
}

async function partOf(what: Promise<unknown>): Promise<number> {
  const [before, began] = [await busy(), performance.now()];
  await what;
  return ((await busy()) - before) / ((performance.now() - began) / 1_000);
}

const memory = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

const alone = await partOf(sleep(10_000));

const child = spawn(process.execPath, [MAIN, 'ui', '--url', server.url], { stdio: ['ignore', 'pipe', 'inherit'] });
const [printed] = (await once(child.stdout, 'data')) as [Buffer];
const address = /http:\S+/.exec(printed.toString())![0];
const view = new URLSearchParams([
  ['key', keyOf(1)],
  ['line', keyOf(2)],
  ['line', keyOf(3)],
]);

/** What the page was told last, and when it had its first rows and all of them. */
const seen: { rows?: number; all?: number; last?: Snapshot; looks: number } = { looks: 0 };
const ended = new AbortController();
const began = performance.now();

async function lookOn(): Promise<void> {
  const { body } = await fetch(`${address}events?${view}`, { signal: ended.signal });
  let text = '';
  for await (const part of body!.pipeThrough(new TextDecoderStream())) {
    const messages = (text + part).split('\n\n');
    text = messages.pop()!;
    for (const message of messages) {
      if (!message.startsWith('data: ')) continue;
      const snapshot: Snapshot = JSON.parse(message.slice('data: '.length));
      if (snapshot.rows.length > 0) seen.rows ??= performance.now() - began;
      if (snapshot.look.state === 'seen') seen.all ??= performance.now() - began;
      const { age } = snapshot.look;
      if (age !== null && age < (seen.last?.look.age ?? Number.POSITIVE_INFINITY)) seen.looks++;
      seen.last = snapshot;
    }
  }
}

const looking = lookOn().catch(() => {});
await until('the first look is complete', () => seen.all !== undefined, 60_000);
const told = (ms: number | undefined): string => `${Math.round(ms ?? Number.NaN).toLocaleString('en')} ms`;
console.log(`${count.toLocaleString('en')} live locks, one page that looks on, three keys open`);
console.log(
  `first rows after ${told(seen.rows)}, all ${seen.last?.totals?.keys.toLocaleString('en')} keys after ${told(seen.all)}`,
);
seen.looks = 0;
const since = performance.now();
const part = await partOf(until(`${looks} more looks`, () => seen.looks >= looks, looks * LONGEST_CYCLE));
const seconds = ((performance.now() - since) / 1_000).toFixed(0);
const { took, pause } = seen.last!.look;
console.log(`then ${looks} looks at all keys in ${seconds} s, the last in ${told(took!)}, ${told(pause)} apart`);
console.log(
  `the engine's processor time: ${((part - alone) * 100).toFixed(2)} % of a core (${(alone * 100).toFixed(2)} % without)`,
);
console.log(`the largest memory of the process: ${memory(child.pid!).toFixed(0)} MB`);
ended.abort();
await looking;
child.kill('SIGINT');
await once(child, 'exit');
await backend.close();
client.disconnect();
