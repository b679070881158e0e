import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import type { Locks, OnceOptions, OnceResult } from '../../src/index.ts';
import { startEtcd } from '../kit/etcd.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import { startRedis } from '../kit/redis.ts';
import type { Engine } from '../kit/selection.ts';
import { describeOn } from '../kit/suite.ts';
import { bounded, until } from '../kit/wait.ts';
import { startZookeeper } from '../kit/zookeeper.ts';
import type { OnceCalls } from './once.worker.ts';

interface Opened extends AsyncDisposable {
  readonly url: string;
}

async function folder(): Promise<Opened> {
  const at = temporaryFolder();
  return { url: `file:${join(at.path, 'locks.db')}`, [Symbol.asyncDispose]: async () => at[Symbol.dispose]() };
}

interface Setting {
  readonly name: string;
  readonly engine: Engine;
  readonly open: () => Promise<Opened>;
  /** Of its address. */
  readonly params?: string;
  /** ms */
  readonly ttl?: number;
}

const SETTINGS: readonly Setting[] = [
  { name: 'a file', engine: 'file', open: folder },
  { name: 'Redis', engine: 'redis', open: startRedis },
  { name: 'PostgreSQL', engine: 'postgres', open: startPostgres },
  { name: 'etcd', engine: 'etcd', open: startEtcd, ttl: 2_000 },
  {
    name: 'ZooKeeper',
    engine: 'zookeeper',
    open: () => startZookeeper({ tickTime: '200' }),
    params: '?sessionTimeout=1s',
  },
];
const SKEW = 400;
/** Jobs at a time, where an unlucky moment has to come. */
const CROWD = Array.from({ length: 12 }, (_, n) => `${n}`);
/** By how much the clocks of the instances are ahead. */
const CLOCKS = [0, SKEW, 100, 300, 200];

const won = (result: OnceResult<unknown>): string => (result.ran ? 'ran' : result.reason);

for (const { name, engine, open, params = '', ttl = 1_000 } of SETTINGS) {
  describeOn(engine, `ticks in several processes, on ${name}`, () => {
    let server: Opened;
    beforeAll(async () => {
      server = await open();
    }, 60_000);
    afterAll(() => server?.[Symbol.asyncDispose]());

    const start = (
      ahead: number,
      log = '',
      more: Readonly<Record<string, string>> = {},
    ): Promise<WorkerProcess<OnceCalls>> => {
      const env = { URL: server.url + params, AHEAD: `${ahead}`, LOG: log, ...more };
      return startWorker(new URL('once.worker.ts', import.meta.url), { env });
    };

    test('five instances, whose clocks differ, begin each of ten ticks once at most, though two of them are killed', async () => {
      using log = temporaryFolder();
      const path = join(log.path, 'begun');
      const instances = await Promise.all(CLOCKS.map((ahead) => start(ahead, path)));
      const dead = new Set<WorkerProcess<OnceCalls>>();
      const options: OnceOptions = { ttl, skew: SKEW, within: '20s' } as const;
      const ticks = Array.from({ length: 10 }, (_, n) => Date.now() + n);
      for (const [n, tick] of ticks.entries()) {
        const alive = instances.filter((instance) => !dead.has(instance));
        const calls = alive.map(async (instance) => {
          await instance.call('once', 'crowd', tick, options, 20).catch((error) => {
            if (!dead.has(instance)) throw error;
          });
        });
        if (n === 3 || n === 6) {
          const victim = alive.at(n === 3 ? -1 : 0)!;
          dead.add(victim);
          await victim.kill();
        }
        await Promise.all(calls);
      }
      const begun = readFileSync(path, 'utf8').split('\n');
      const counts = ticks.map((tick) => begun.filter((line) => line === `crowd ${tick}`).length);
      expect(Math.max(...counts), `begun, tick by tick: ${counts}`).toBe(1);
      // One who is killed between the key and the function has taken a tick, and begun none.
      expect(counts.filter((count) => count === 0).length, `${counts}`).toBeLessThanOrEqual(dead.size);
      for (const instance of instances) await instance[Symbol.asyncDispose]();
    });

    test('what a runner that is killed has begun is run by nobody else, as long as the tick is young for anybody', async () => {
      const within = ttl + 1_500;
      const [runner, slow] = await Promise.all([start(SKEW), start(0)]);
      const due = Date.now() + SKEW;
      void runner.call('once', 'killed', due, { ttl, skew: SKEW, within }).catch(() => {});
      await runner.heard('runs');
      await runner.kill();
      let result: string;
      let asked = 0;
      do {
        result = won(await slow.call('once', 'killed', due, { ttl, skew: SKEW, within }));
        asked++;
        await new Promise((resolve) => globalThis.setTimeout(resolve, 50));
      } while (result === 'taken');
      expect(result).toBe('late');
      expect(asked, 'times it was refused').toBeGreaterThan(10);
      await runner[Symbol.asyncDispose]();
      await slow[Symbol.asyncDispose]();
    });

    test('a tick whose runner closed its locks at once is run by nobody else', async () => {
      await using runner = await start(0);
      await using other = await start(0);
      const due = Date.now();
      const options = { ttl, skew: SKEW, within: '20s' } as const;
      expect(won(await runner.call('once', 'closed', due, options, 0))).toBe('ran');
      await runner.call('close');
      expect(won(await other.call('once', 'closed', due, options, 0))).toBe('taken');
    });

    test('with retry a tick whose runner is killed is run by another; one that succeeded by nobody', async () => {
      const options: OnceOptions = { ttl, skew: SKEW, within: '40s', retry: true, overlap: 'skip' };
      const [runner, next, last] = await Promise.all([start(0), start(SKEW), start(100)]);
      const due = Date.now();
      void runner.call('once', 'retry', due, options).catch(() => {});
      const first = (await runner.heard('runs')) as bigint;
      const waiting = next.call('once', 'retry', due, options, 0);
      await runner.kill();
      expect((await next.heard('runs', 15_000)) as bigint).toBeGreaterThan(first);
      expect(await waiting).toMatchObject({ ran: true, recorded: true });
      expect(won(await last.call('once', 'retry', due, options, 0))).toBe('done');
      for (const instance of [runner, next, last]) await instance[Symbol.asyncDispose]();
    });

    test('ticks whose runner is killed while it looks whether they were run are run by another, and once', async () => {
      const options: OnceOptions = { ttl, skew: SKEW, within: '40s', retry: true };
      const dying = await start(0, '', { DEAF: '1', STAYS_IN_LOOKS: `${CROWD.length}` });
      await using next = await start(0, '', { DEAF: '1' });
      const due = Date.now();
      for (const name of CROWD) void dying.call('once', `look ${name}`, due, options, 0).catch(() => {});
      await dying.heard('looks');
      const running = CROWD.map((name) => next.call('once', `look ${name}`, due, options, 0));
      await dying.kill();
      expect((await Promise.all(running)).map(won)).toEqual(CROWD.map(() => 'ran'));
      const again = CROWD.map((name) => next.call('once', `look ${name}`, due, options, 0));
      expect((await Promise.all(again)).map(won)).toEqual(CROWD.map(() => 'done'));
      await dying[Symbol.asyncDispose]();
    });

    test('an evicted runner and its successor that end at once are both told that it is recorded, at once, and nobody runs it again', async () => {
      const options: OnceOptions = { ttl, skew: SKEW, within: '40s', retry: true };
      await using evicted = await connect(server.url + params);
      await using next = await connect(server.url + params);
      const ticks = CROWD.map(async (name) => {
        const [due, job] = [new Date(), `evicted ${name}`];
        const end = Promise.withResolvers<void>();
        const runs = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const run = (by: Locks, n: number) =>
          by.once(
            job,
            due,
            () => {
              runs[n]!.resolve();
              return end.promise;
            },
            options,
          );
        const first = run(evicted, 0);
        await bounded('the first one runs', runs[0]!.promise);
        const second = run(next, 1);
        await until('the second one is let in', async () => {
          await next.forceRelease(`${job}@${due.toISOString()}`, { reason: 'a test' });
          return Promise.race([runs[1]!.promise.then(() => true), setTimeout(50, false)]);
        });
        end.resolve();
        const results = await bounded('both end', Promise.all([first, second]), 10_000);
        const third = await next.once(job, due, () => {}, options);
        return [...results.map((result) => result.ran && result.recorded), won(third)];
      });
      expect(await Promise.all(ticks)).toEqual(CROWD.map(() => [true, true, 'done']));
    });
  });
}
