import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../kit/folder.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import { until } from '../kit/wait.ts';
import type { CronCalls } from './cron.worker.ts';

type Worker = WorkerProcess<CronCalls>;

const HOWS = ['node-cron, by its coordinator', 'node-cron, by a task', 'croner'];

test('three processes, one of them killed, run each tick once, with every library', async () => {
  using folder = temporaryFolder();
  const env = { URL: `file:${join(folder.path, 'locks.db')}` };
  const start = () => startWorker<CronCalls>(new URL('cron.worker.ts', import.meta.url), { env });
  const ticks = new Map(HOWS.map((how) => [how, [] as number[]]));
  const follow = async (worker: Worker): Promise<void> => {
    try {
      for (;;) {
        const { how, tick } = (await worker.nextEvent('ran', 60_000)) as { how: string; tick: number };
        ticks.get(how)!.push(tick);
      }
    } catch {
      // It has ended.
    }
  };
  const more = (count: number): Promise<void> => {
    const goals = HOWS.map((how) => ticks.get(how)!.length + count);
    return until(`${count} more ticks`, () => HOWS.every((how, i) => ticks.get(how)!.length >= goals[i]!));
  };
  const [first, second, third] = (await Promise.all([start(), start(), start()])) as [Worker, Worker, Worker];
  await using _ = first;
  await using __ = second;
  await using ___ = third;
  const followed = [first, second, third].map(follow);
  await Promise.all([first, second, third].map((worker) => worker.call('begin')));
  await more(1);
  await first.kill();
  await more(2);
  await Promise.all([second, third].map((worker) => worker.end('SIGKILL')));
  await Promise.all(followed);
  for (const [how, run] of ticks) {
    expect(new Set(run).size, `${how} ran the ticks ${run.sort()}`).toBe(run.length);
    expect(run.filter((tick) => tick % 1_000 !== 0)).toEqual([]);
  }
});
