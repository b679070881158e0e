import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import type { Locks } from '../../src/index.ts';
import { describeOn } from '../kit/suite.ts';
import { settleWithin, until } from '../kit/wait.ts';
import { MORE_SITES, open, SITES, type Site, startInstance, won } from './sites.ts';

/** Jobs at a time, where an unlucky moment has to come. */
const CROWD = Array.from({ length: 12 }, (_, n) => `${n}`);

for (const site of [...SITES, ...MORE_SITES]) {
  const { engine, ttl = 1_000 } = site;
  const options = { ttl, within: '40s', retry: true } as const;

  describeOn(engine, `records of ticks on ${engine}`, () => {
    let server: Site;
    beforeAll(async () => {
      server = await open(site);
    }, 60_000);
    afterAll(() => server?.[Symbol.asyncDispose]());

    test('ticks whose runner is killed while it looks whether they were run are run by another, and once', async () => {
      const dying = await startInstance(server, { DEAF: '1', STAYS_IN_LOOKS: `${CROWD.length}` });
      await using next = await startInstance(server, { DEAF: '1' });
      const due = Date.now();
      for (const name of CROWD) void dying.call('once', `look ${name}`, due, options, 0).catch(() => {});
      await dying.nextEvent('looks');
      const running = CROWD.map((name) => next.call('once', `look ${name}`, due, options, 0));
      await dying.kill();
      expect((await Promise.all(running)).map(won)).toEqual(CROWD.map(() => 'ran'));
      const again = CROWD.map((name) => next.call('once', `look ${name}`, due, options, 0));
      expect((await Promise.all(again)).map(won)).toEqual(CROWD.map(() => 'done'));
      await dying[Symbol.asyncDispose]();
    });

    test('an evicted runner and its successor that end at once are both told that it is recorded, at once, and nobody runs it again', async () => {
      await using evicted = await connect(server.url);
      await using next = await connect(server.url);
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
        await settleWithin('the first one runs', runs[0]!.promise);
        const second = run(next, 1);
        await until('the second one is let in', async () => {
          await next.forceRelease(`${job}@${due.toISOString()}`, { reason: 'a test' });
          return Promise.race([runs[1]!.promise.then(() => true), setTimeout(50, false)]);
        });
        end.resolve();
        const results = await settleWithin('both end', Promise.all([first, second]), 10_000);
        const third = await next.once(job, due, () => {}, options);
        return [...results.map((result) => result.ran && result.recorded), won(third)];
      });
      expect(await Promise.all(ticks)).toEqual(CROWD.map(() => [true, true, 'done']));
    });
  });
}
