import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant } from '../contestant.ts';

const collect = (): number => {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};

/** Bytes of this process's heap for each of `count` callers that wait for a key which is held. */
export async function waiters(contestant: Contestant, count: number): Promise<number> {
  await contestant.lock('crowded')();
  const take = contestant.lock('crowded');
  void take();
  await sleep(50);
  const before = collect();
  for (let i = 0; i < count; i++) void take();
  await sleep(50);
  return (collect() - before) / count;
}
