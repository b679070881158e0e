/**
 * `node test/prove/simulate.ts --for 60 [--seed 1]`: random histories of the core and of a quorum, on all processors; a line of JSON for
 * each kind.
 */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createLocks } from '../../src/locks.ts';
import { check } from '../simulation/checkers.ts';
import { simulate } from '../simulation/simulate.ts';

/** A history over five takes eight times as long. */
const SHARES = [
  [1, 0.9],
  [5, 0.1],
] as const;

/** What a thread of its own works at until it is told that time is up. */
interface Work {
  readonly nodes: number;
  readonly from: number;
  /** How many seeds all threads together have begun with, and then whether they are to end. */
  readonly shared: Int32Array;
}

async function work({ nodes, from, shared }: Work): Promise<readonly number[]> {
  const broken: number[] = [];
  while (Atomics.load(shared, 1) === 0) {
    const seed = from + Atomics.add(shared, 0, 1);
    if (check(await simulate(seed, createLocks, nodes)).length > 0) broken.push(seed);
  }
  return broken;
}

async function everywhere(nodes: number, from: number, seconds: number): Promise<void> {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const threads = Array.from(
    { length: availableParallelism() },
    () => new Worker(new URL(import.meta.url), { workerData: { nodes, from, shared } satisfies Work }),
  );
  setTimeout(() => Atomics.store(shared, 1, 1), seconds * 1_000);
  const told = await Promise.all(threads.map(async (thread) => (await once(thread, 'message')) as [number[]]));
  const broken = told.flatMap(([seeds]) => seeds).toSorted((a, b) => a - b);
  console.log(JSON.stringify({ nodes, from, histories: shared[0], broken }));
  if (broken.length > 0) process.exitCode = 1;
}

if (isMainThread) {
  const { values } = parseArgs({
    options: { for: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
  });
  for (const [nodes, share] of SHARES) await everywhere(nodes, Number(values.seed), Number(values.for) * share);
} else parentPort!.postMessage(await work(workerData as Work));
