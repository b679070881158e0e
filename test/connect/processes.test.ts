import { afterAll, beforeAll, expect, test } from 'vitest';
import { MYSQL_KINDS } from '../kit/mysql-kinds.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import { startRedisNodes } from '../kit/redis.ts';
import type { Part } from '../kit/selection.ts';
import { describeOn } from '../kit/suite.ts';
import { settleWithin } from '../kit/wait.ts';
import type { Opened } from './engines.ts';
import type { HolderCalls } from './holder.worker.ts';

/** Engines of which the lease is all that tells of a death; those with more to tell of have tests of their own. */
const ENGINES: readonly (readonly [string, Part | readonly Part[], () => Promise<Opened>])[] = [
  ['Redlock', 'redis', () => startRedisNodes(5)],
  ['PostgreSQL', 'postgres', startPostgres],
  ...MYSQL_KINDS.map(({ name, need, start }) => [name, ['mysql', need], start] as const),
];
const TTL = 1_500;
/** Far less than a lease that was asked for anew. ms. */
const SOON = 15_000;

for (const [name, engine, open] of ENGINES) {
  describeOn(engine, `processes on ${name}`, () => {
    let server: Opened;
    beforeAll(async () => {
      server = await open();
    });
    afterAll(() => server[Symbol.asyncDispose]());

    const start = (): Promise<WorkerProcess<HolderCalls>> =>
      startWorker(new URL('holder.worker.ts', import.meta.url), { env: { URL: server.url } });

    test('what a process held that was killed is free when its lease is over, and not before', async () => {
      await using dying = await start();
      await using next = await start();
      const token = await dying.call('hold', 'killed', TTL);
      const waiting = next.call('hold', 'killed', 30_000);
      await dying.kill();
      const killed = performance.now();
      expect(await settleWithin('the next one holds', waiting, TTL + SOON)).toBeGreaterThan(token);
      // It had been renewed a third of the lease ago at most.
      expect(performance.now() - killed, 'ms until the next one held').toBeGreaterThan(TTL / 2);
    });

    test('a process that is stopped past its lease finds it lost as it goes on, and frees nothing of the next', async () => {
      await using stopped = await start();
      await using next = await start();
      const token = await stopped.call('hold', 'stopped', TTL);
      stopped.pause();
      expect(
        await settleWithin('the next one holds', next.call('hold', 'stopped', 30_000), TTL + SOON),
      ).toBeGreaterThan(token);
      stopped.resume();
      expect(await stopped.call('held', 'stopped')).toBe(false);
      expect(await stopped.call('release', 'stopped')).toBe(false);
      expect(await next.call('held', 'stopped')).toBe(true);
      expect(await next.call('release', 'stopped')).toBe(true);
    });
  });
}
