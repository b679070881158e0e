import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks } from '../../src/index.ts';
import { until } from '../kit/wait.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/**
 * Locks on a clock that stands still while the engine of JavaScript collects: no lease ends by itself meanwhile.
 */
function renewed(backendOf: (engine: Backend) => Backend = (engine) => engine) {
  const clock = manualClock();
  const locks = createLocks(backendOf(memory({ clock })), { clock, ttl: 300 });
  // A lease is watched from its first renewal on.
  return { locks, untilRenewed: () => clock.advance(150) };
}

/** The keys whose leases are warned of after `work`, until `enough`. Leases of other tests, whose keys begin with another word, may be collected, too. */
async function warned(work: () => Promise<void>, enough: string): Promise<string[]> {
  const said: string[] = [];
  const note = ({ name, message }: Error): void => {
    const [, key] = /"own (.*?)"/.exec(message) ?? [];
    if (name === 'HoldfastDroppedLeaseWarning' && key) said.push(key);
  };
  process.on('warning', note);
  try {
    await work();
    await until(`a warning of ${enough}`, () => {
      collect();
      return said.includes(enough);
    });
  } finally {
    process.off('warning', note);
  }
  return said;
}

test('a lease that is dropped without a release is warned of, once; one that is kept, released or not renewed is not', async () => {
  const { locks, untilRenewed } = renewed();
  const kept = await locks.mutex('own kept').acquire();
  const said = await warned(async () => {
    await (await locks.mutex('own released').acquire()).release();
    await locks.mutex('own run').run(() => {});
    await locks.mutex('own not renewed').acquire({ renew: false });
    await Promise.race([locks.mutex('own dropped').acquire(), Promise.resolve()]);
    await untilRenewed();
  }, 'dropped');
  expect(said).toEqual(['dropped']);
  expect(kept.held).toBe(true);
  await locks.close();
});

test('a lease that was tried for is warned of as others are', async () => {
  const { locks, untilRenewed } = renewed();
  const said = await warned(async () => {
    await Promise.race([locks.mutex('own tried').tryAcquire(), Promise.resolve()]);
    await untilRenewed();
  }, 'tried');
  expect(said).toEqual(['tried']);
  await locks.close();
});

test.each([
  'before',
  'after',
])('a lease that was given back inside of a hold that goes on is not warned of, %s a renewal', async (when) => {
  const { locks, untilRenewed } = renewed();
  const outer = locks.mutex('own outer');
  const { promise, resolve } = Promise.withResolvers<void>();
  let holding: Promise<void> | undefined;
  const enter = async (): Promise<void> => {
    const inner = await outer.acquire();
    if (when === 'after') await untilRenewed();
    await inner.release();
  };
  const said = await warned(async () => {
    const left = Promise.withResolvers<void>();
    holding = outer.run(async () => {
      await enter();
      left.resolve();
      await promise;
    });
    await left.promise;
    await Promise.race([locks.mutex('own dropped').acquire(), Promise.resolve()]);
    await untilRenewed();
  }, 'dropped');
  expect(said).toEqual(['dropped']);
  resolve();
  await holding;
  await locks.close();
});

test('a run that never ends is not warned of: nobody was given its lease to keep', async () => {
  const { locks, untilRenewed } = renewed();
  const said = await warned(async () => {
    void locks.mutex('own endless').run(() => new Promise(() => {}));
    void locks.all(['own first', 'own second']).run(() => new Promise(() => {}));
    await Promise.race([locks.mutex('own dropped').acquire(), Promise.resolve()]);
    await untilRenewed();
  }, 'dropped');
  expect(said).toEqual(['dropped']);
});

test('what enters a hold again leaves nothing in memory, however often, before the hold is renewed', async () => {
  await using locks = createLocks(memory(), { ttl: '10m' });
  const lock = locks.mutex('entered');
  await lock.run(async () => {
    const enter = async (): Promise<void> => {
      for (let times = 0; times < 20_000; times++) {
        await lock.run(() => {});
        await (await lock.acquire()).release();
      }
      collect();
    };
    await enter(); // what is made once, such as compiled code
    const before = process.memoryUsage().heapUsed;
    await enter();
    const each = (process.memoryUsage().heapUsed - before) / 40_000;
    expect(each, 'bytes that stay of one entry').toBeLessThan(40);
  });
});

test('a lease that was dropped, and is over by then, is not warned of', async () => {
  const { locks, untilRenewed } = renewed();
  const said = await warned(async () => {
    for (const [name, maxHold] of [
      ['own over', 160],
      ['own dropped', 1_000_000],
    ] as const)
      await Promise.race([locks.mutex(name).acquire({ maxHold }), Promise.resolve()]);
    for (let times = 0; times < 5; times++) await untilRenewed();
  }, 'dropped');
  expect(said).toEqual(['dropped']);
  await locks.close();
});

test('a lease that ends by itself is not warned of, though the session that carries it is asked again until then', async () => {
  const asked: string[] = [];
  const { locks, untilRenewed } = renewed((engine) =>
    around(engine, {
      traits: { ...engine.traits, expires: false },
      attempt: async (claim) => ({ ...(await engine.attempt(claim)), validFor: 150 }),
      renew(claims) {
        asked.push(...claims.map(({ key }) => key));
        return engine.renew(claims);
      },
    }),
  );
  const said = await warned(async () => {
    for (const [name, renew] of [
      ['own ending', false],
      ['own dropped', true],
    ] as const)
      await Promise.race([locks.mutex(name).acquire({ renew }), Promise.resolve()]);
    await untilRenewed();
  }, 'dropped');
  expect(asked).toContain('own ending');
  expect(said).toEqual(['dropped']);
  await locks.close();
});
