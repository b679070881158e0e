import { expect, test } from 'vitest';
import { longestWait } from '../../products/testing/lock-laws/starvation.ts';
import { startWorker } from '../kit/processes.ts';
import { describeOn } from '../kit/suite.ts';
import { SITES } from '../leading/sites.ts';
import type { BusyCalls } from './busy.worker.ts';

/** With fewer a quorum that lets nobody go first serves them all by chance in some runs. */
const PROCESSES = 4;
const CALLERS = 5;
/** Longer than a hold passes from hand to hand, ms: then each release goes to the engine, and may be followed by the next claim at once. */
const WORK = 25;
/** Several times as long as anybody may wait, ms. */
const LASTS = 3_000;
/** How late a busy machine may be, ms. */
const TOLERANCE = 250;

for (const engine of ['file', 'redis', 'redlock', 'postgres', 'etcd'] as const) {
  describeOn(engine === 'redlock' ? 'redis' : engine, `on ${engine}`, () => {
    test(`nobody starves among ${PROCESSES} processes that ask without pause`, async () => {
      await using site = await SITES[engine]();
      const env = { URL: site.url };
      await using stack = new AsyncDisposableStack();
      const workers = await Promise.all(
        Array.from({ length: PROCESSES }, async () =>
          stack.use(await startWorker<BusyCalls>(new URL('busy.worker.ts', import.meta.url), { env })),
        ),
      );
      await Promise.all(workers.map((worker) => worker.call('warm', 'k')));
      const from = performance.timeOrigin + performance.now() + 50;
      const to = from + LASTS;
      const busy = workers.map(async (worker, client) =>
        (await worker.call('busy', 'k', CALLERS, WORK, from, to)).map(([begin, end]) => ({ client, begin, end })),
      );
      const served = (await Promise.all(busy)).flat();
      const { client, waited, bound } = longestWait(served, PROCESSES, from, to);
      const waits = `process ${client + 1} waited ${Math.round(waited)} ms while others were served, ms`;
      expect(waited, waits).toBeLessThanOrEqual(bound + TOLERANCE);
    });
  });
}
