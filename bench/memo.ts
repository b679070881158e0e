/**
 * Memos on Redis. A crowd: 1,000 callers in four processes ask for one key that is not there; beside it a lock and a look, and the
 * algorithm of Powertools for AWS, by hand. A hit against a bare `GET` of the same size. The commands of one run, against those of a lock.
 * Run: `node --disable-warning=ExperimentalWarning bench/memo.ts`
 */
import { Monitor } from '../test/kit/monitor.ts';
import { startWorker, type WorkerProcess } from '../test/kit/processes.ts';
import { startRedis } from '../test/kit/redis.ts';
import type { AlgorithmName, HitTimes, MemoCalls } from './memo.worker.ts';
import { median } from './verdict.ts';

const PROCESSES = 4;
const CALLERS = 1_000;
const WORK = 300; // ms
const ROUNDS = 5;
const HITS = 25_000;

const shown = (numbers: readonly number[], digits = 1): string =>
  `${median(numbers).toFixed(digits)} (${Math.min(...numbers).toFixed(digits)} to ${Math.max(...numbers).toFixed(digits)})`;

async function crowd(
  workers: readonly WorkerProcess<MemoCalls>[],
  monitor: Monitor,
  name: AlgorithmName,
): Promise<void> {
  const [runs, commands, half, last] = [[], [], [], []] as number[][];
  for (let round = 0; round < ROUNDS; round++) {
    const key = `${name}:${round}`;
    await monitor.commands();
    const told = await Promise.all(workers.map((worker) => worker.call('crowd', name, key, CALLERS / PROCESSES, WORK)));
    const sent = await monitor.commands();
    if (round === 0) continue; // connections are made, and scripts are loaded
    const ended = Math.max(...told.map((each) => each.ended));
    const waited = told.flatMap(({ had }) => had.map((at) => at - ended));
    runs!.push(told.reduce((sum, each) => sum + each.runs, 0));
    commands!.push(sent.length / PROCESSES);
    half!.push(median(waited));
    last!.push(Math.max(...waited));
  }
  console.log(
    `${name.padEnd(12)} runs ${shown(runs!, 0)}; commands a process ${shown(commands!)}; ms after the work: half have it ${shown(half!)}, all ${shown(last!)}`,
  );
}

await using server = await startRedis();
await using stack = new AsyncDisposableStack();
const workers: WorkerProcess<MemoCalls>[] = [];
for (let n = 0; n < PROCESSES; n++) {
  const worker = await startWorker<MemoCalls>(new URL('memo.worker.ts', import.meta.url), { env: { URL: server.url } });
  workers.push(stack.use(worker));
}
using monitor = await Monitor.start(server.port);
console.log(
  `${CALLERS} callers in ${PROCESSES} processes of one missing key, work of ${WORK} ms; middle of ${ROUNDS - 1} rounds (least to most)`,
);
for (const name of ['memo', 'floor', 'lockAndLook', 'powertools'] as const) await crowd(workers, monitor, name);

const [one] = workers as [WorkerProcess<MemoCalls>];
console.log('\ncommands of one caller whom nobody else disturbs');
for (const [what, key] of [
  ['lock', 'alone:lock'],
  ['memo', 'alone:memo'],
  ['hit', 'alone:memo'],
] as const) {
  await monitor.commands();
  await one.call('cycle', what, key);
  const names = (await monitor.commands()).map(([command]) => command);
  console.log(`${what.padEnd(12)} ${names.length}: ${names.join(', ')}`);
}
monitor[Symbol.dispose]();

const ratios: number[] = [];
const times: HitTimes[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const time = await one.call('hits', `hits:${round}`, HITS);
  times.push(time);
  ratios.push(time.bare / time.hit);
}
const middle = (name: keyof HitTimes): string => shown(times.map((time) => time[name]));
console.log(
  `\na hit ${middle('hit')} µs, over the same client a bare GET ${middle('bare')} µs, with its JSON parsed ${middle('parsed')} µs: ${shown(ratios, 2)} of a bare GET; over the client of connect(), which watches for silence, ${middle('connected')} µs`,
);
