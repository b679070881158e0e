import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import { listOf } from '../../src/core/contract/promises.ts';
import type { Lock, LockOptions } from '../../src/index.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import { describeOn } from '../kit/suite.ts';
import { settleWithin, until } from '../kit/wait.ts';
import { SITES, type Site } from '../leading/sites.ts';
import type { TaskCalls } from './task.worker.ts';

const FOUND_WITHIN = 4_000;
type Task = readonly [first: string, second: string];

for (const engine of ['file', 'redis', 'postgres', 'etcd'] as const) {
  describeOn(engine, `deadlocks over processes on ${engine}`, () => {
    let site: Site;
    const workers: WorkerProcess<TaskCalls>[] = [];
    beforeAll(async () => {
      site = await SITES[engine]();
      workers.push(...(await Promise.all(['one', 'two', 'three'].map((LABEL) => startTask(site.url, LABEL)))));
    });
    afterAll(async () => {
      await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()));
      await site[Symbol.asyncDispose]();
    });

    /** All have their first, and from `since` on they want their second. How they end. */
    async function meet(tasks: readonly Task[], options: LockOptions) {
      for (const [i, [first, second]] of tasks.entries()) await workers[i]!.call('begin', first, second, options);
      const since = performance.now();
      for (const [i, [first]] of tasks.entries()) await workers[i]!.call('goOn', first);
      const end = () => settleWithin('all end', Promise.all(tasks.map(([first], i) => workers[i]!.call('end', first))));
      return { since, end };
    }

    test('exactly one of a deadlock gives up, in time: two mutexes, three, readers and writers, permits', async () => {
      const scenes: readonly (readonly Task[])[] = [
        [
          ['two a', 'two b'],
          ['two b', 'two a'],
        ],
        [
          ['three a', 'three b'],
          ['three b', 'three c'],
          ['three c', 'three a'],
        ],
        [
          ['r|rw a', 'w|rw b'],
          ['r|rw b', 'w|rw a'],
        ],
        [
          ['1/2|permits a', 'permits b'],
          ['permits b', '2/2|permits a'],
        ],
      ];
      const one = (count: number): string[] => ['LOCK_DEADLOCK', ...Array<string>(count - 1).fill('done')];
      // One after the other: side by side, their looks would take each other's time on a busy machine.
      for (const tasks of scenes) {
        const { since, end } = await meet(tasks, { detect: true });
        expect((await end()).sort()).toEqual(one(tasks.length));
        expect(performance.now() - since, 'ms from when it came about').toBeLessThan(FOUND_WITHIN);
      }
    });

    test('whoever looks sees who waits for whom, and the deadlock, in time', async () => {
      await using locks = await connect(site.url);
      const { end } = await meet(
        [
          ['a', 'b'],
          ['b', 'a'],
        ],
        {},
      );
      const began = performance.now();
      let found = await locks.waits();
      while (found.deadlocks.length === 0 && performance.now() - began < FOUND_WITHIN) found = await locks.waits();
      const as = new Map(
        found.claims.map(({ id, label, key, held }) => [id, `${label} ${held ? 'holds' : 'waits'} ${key}`]),
      );
      const named = (ids: readonly string[]): string[] => ids.map((id) => as.get(id) ?? id).sort();
      expect(found.deadlocks.map(({ claims, victim }) => [named(claims), victim])).toEqual([
        [['one holds a', 'one waits b', 'two holds b', 'two waits a'], undefined],
      ]);
      const arrows = found.edges.map(({ from, to, why }) => `${as.get(from)} -${why}- ${as.get(to)}`);
      expect(arrows.sort()).toEqual([
        'one holds a -inside- one waits b',
        'one waits b -holder- two holds b',
        'two holds b -inside- two waits a',
        'two waits a -holder- one holds a',
      ]);
      await locks.forceRelease('a', { reason: 'deadlock' });
      expect(await end(), 'who is robbed is told by its lease').toEqual(['done', 'done']);
      expect(await locks.waits()).toEqual({ claims: [], edges: [], deadlocks: [] });
    });

    test('a wait for a process that has died ends when its claims expire, and is no deadlock', async () => {
      const TTL = '3s';
      await using survivor = await startTask(site.url, 'survivor', TTL);
      await using dies = await startTask(site.url, 'dies', TTL);
      await survivor.call('begin', 'dead a', 'dead b', { detect: true });
      await dies.call('begin', 'dead b', 'dead a', {});
      await dies.call('goOn', 'dead b');
      await using locks = await connect(site.url);
      await until('it waits', async () => (await listOf(locks.inspect('dead a', { exact: true }))).length === 2);
      await dies.kill();
      await survivor.call('goOn', 'dead a');
      const found = locks.waits('dead');
      expect(await settleWithin('it ends', survivor.call('end', 'dead a'))).toBe('done');
      expect((await found).deadlocks, 'told to whoever looks').toEqual([]);
    });

    test('a ring through two Locks of one process on one server is found by whoever waits there', async () => {
      await using one = await connect(site.url);
      await using two = await connect(site.url);
      const both = Promise.withResolvers<void>();
      let inside = 0;
      const nested = (outer: Lock, inner: Lock): Promise<string> =>
        outer
          .run(async () => {
            if (++inside === 2) both.resolve();
            await both.promise;
            await inner.run(() => {}, { detect: true, wait: '20s' });
          })
          .then(
            () => 'done',
            ({ code }) => code,
          );
      const began = performance.now();
      const ends = [
        nested(one.mutex('twice a'), two.mutex('twice b')),
        nested(two.mutex('twice b'), one.mutex('twice a')),
      ];
      expect((await settleWithin('both end', Promise.all(ends))).sort()).toEqual(['LOCK_DEADLOCK', 'done']);
      expect(performance.now() - began, 'ms from when it came about').toBeLessThan(FOUND_WITHIN);
    });

    test('no false alarm under a contested load of nested locks in one order', async () => {
      await using locks = await connect(site.url);
      let holds = 0;
      // On a busy machine one round may have too few.
      while (holds <= 50) {
        let over = false;
        const loads = Promise.all(workers.map((worker) => worker.call('nest', 'load', 1_500))).finally(() => {
          over = true;
        });
        while (!over) {
          expect((await locks.waits('load')).deadlocks).toEqual([]);
          await sleep(20);
        }
        const ends = await loads;
        expect(ends.flatMap(({ errors }) => errors)).toEqual([]);
        holds += ends.reduce((sum, end) => sum + end.holds, 0);
      }
    });
  });
}

const startTask = (URL: string, LABEL: string, TTL = '10s'): Promise<WorkerProcess<TaskCalls>> =>
  startWorker(new globalThis.URL('task.worker.ts', import.meta.url), { env: { URL, LABEL, TTL } });
