import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OnceOptions } from '../../src/index.ts';
import { temporaryFolder } from '../kit/folder.ts';
import type { WorkerProcess } from '../kit/processes.ts';
import { describeOn } from '../kit/suite.ts';
import type { OnceCalls } from './once.worker.ts';
import { open, SITES, type Site, startInstance, won } from './sites.ts';

const SKEW = 400;
/** By how much the clocks of the instances are ahead. */
const CLOCKS = [0, SKEW, 100, 300, 200];

for (const site of SITES) {
  const { engine, ttl = 1_000 } = site;
  describeOn(engine, `ticks in several processes, on ${engine}`, () => {
    let server: Site;
    beforeAll(async () => {
      server = await open(site);
    }, 60_000);
    afterAll(() => server?.[Symbol.asyncDispose]());

    const start = (ahead: number, log = ''): Promise<WorkerProcess<OnceCalls>> =>
      startInstance(server, { AHEAD: `${ahead}`, LOG: log });

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
      await runner.nextEvent('runs');
      await runner.kill();
      let result: string;
      let asked = 0;
      do {
        result = won(await slow.call('once', 'killed', due, { ttl, skew: SKEW, within }));
        asked++;
        await new Promise((resolve) => setTimeout(resolve, 20));
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
      const first = (await runner.nextEvent('runs')) as bigint;
      const waiting = next.call('once', 'retry', due, options, 0);
      await runner.kill();
      expect((await next.nextEvent('runs', 15_000)) as bigint).toBeGreaterThan(first);
      expect(await waiting).toMatchObject({ ran: true, recorded: true });
      expect(won(await last.call('once', 'retry', due, options, 0))).toBe('done');
      for (const instance of [runner, next, last]) await instance[Symbol.asyncDispose]();
    });
  });
}
