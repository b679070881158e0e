import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../kit/folder.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import { startRedis } from '../kit/redis.ts';
import type { Engine } from '../kit/selection.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import type { Called, LimitedCalls } from './rate-limit.worker.ts';

interface Opened extends AsyncDisposable {
  readonly url: string;
}

async function folder(): Promise<Opened> {
  const at = temporaryFolder();
  return { url: `file:${join(at.path, 'locks.db')}`, [Symbol.asyncDispose]: async () => at[Symbol.dispose]() };
}

const ENGINES: readonly [string, Engine, () => Promise<Opened>][] = [
  ['a file', 'file', folder],
  ['Redis', 'redis', startRedis],
  ['PostgreSQL', 'postgres', startPostgres],
];

for (const [name, engine, open] of ENGINES) {
  describeOn(engine, `so many calls per window over three processes, on ${name}`, () => {
    let server: Opened;
    let workers: WorkerProcess<LimitedCalls>[];
    beforeAll(async () => {
      server = await open();
      const file = new URL('rate-limit.worker.ts', import.meta.url);
      workers = await Promise.all([1, 2, 3].map(() => startWorker<LimitedCalls>(file, { env: { URL: server.url } })));
    });
    afterAll(async () => {
      for (const worker of workers ?? []) await worker[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
    });

    test('never more in any window, wherever it begins; and most of what it allows', async () => {
      const rate = { calls: 6, window: 400 };
      const storms = workers.map((worker) => worker.call('storm', 'api', rate, 4, 1_700));
      const sent = (await Promise.all(storms)).flat().sort((a, b) => a - b);
      const most = Math.max(...sent.map((from, i) => sent.slice(i).filter((at) => at < from + rate.window).length));
      expect(most, `calls in ${rate.window} ms`).toBe(rate.calls);
      const took = sent.at(-1)! - sent[0]!;
      const ideal = rate.calls * (1 + Math.floor(took / rate.window));
      expect(sent.length, `calls of ${ideal} that could have been`).toBeGreaterThan(ideal * 0.6);
    });

    test('who waits is let in by turns, over all processes', async () => {
      const rate = { calls: 1, window: 300 };
      const called: string[] = [];
      await workers[0]!.call('one', 'turns', rate, 'first');
      await workers[0]!.nextEvent('called');
      const turns = workers.map(async (worker, turn) => {
        await until(`${turn} wait`, async () => (await worker.call('waiters', 'turns')) === turn);
        await worker.call('one', 'turns', rate, `${turn}`);
        called.push(((await worker.nextEvent('called')) as Called).who);
      });
      await Promise.all(turns);
      expect(called).toEqual(['0', '1', '2']);
    });

    test('a process that dies with its calls just sent gives nothing back early', async () => {
      const rate = { calls: 2, window: 500 };
      const file = new URL('rate-limit.worker.ts', import.meta.url);
      const doomed = await startWorker<LimitedCalls>(file, { env: { URL: server.url } });
      await using _ = doomed;
      for (const who of ['a', 'b']) await doomed.call('one', 'crash', rate, who);
      const first = (await doomed.nextEvent('called')) as Called;
      await doomed.nextEvent('called');
      await doomed.kill();
      await workers[0]!.call('one', 'crash', rate, 'c');
      const next = (await workers[0]!.nextEvent('called')) as Called;
      expect(next.at - first.at, 'ms from the first call to the one that takes its place').toBeGreaterThan(
        rate.window - 50,
      );
    });
  });
}
