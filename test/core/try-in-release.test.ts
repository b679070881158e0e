/** A try that comes while a release of its own process is on its way: it may have what that frees, and never waits for anything else. */
import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, Traits } from '../../src/core/contract/backend.ts';
import { listOf } from '../../src/core/contract/promises.ts';
import { createLocks, type LockOptions, type Locks } from '../../src/index.ts';

/** Engines by how a waiter hears of its turn: a claim is sent with a release only where that is by mail. */
const ENGINES = ['buffered', 'watch', 'never'] as const;

function setup(wakes: Traits['wakes'], options: LockOptions, more: Partial<Traits> = {}) {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const calls: Partial<Backend> = { traits: { ...engine.traits, wakes, ...more } };
  const locks = createLocks(around(engine, calls), { clock, awaitRelease: false, ...options });
  /** What a try gave, once all has run that needs no time. */
  async function outcomeOf(tried: Promise<unknown>): Promise<string> {
    let outcome = 'waits';
    tried.then(
      (lease) => {
        outcome = lease ? 'granted' : 'refused';
      },
      () => {},
    );
    await clock.advance(0);
    return outcome;
  }
  return { clock, locks, outcomeOf };
}

describe.each(ENGINES)('while a release is on its way, on an engine whose wakes are %s', (wakes) => {
  /** Gives the try in a list: an async function would wait for it. */
  type Scene = (locks: Locks) => Promise<readonly [Promise<unknown>]>;

  test.each<[string, string, Scene]>([
    [
      'for more permits than it frees is refused',
      'refused',
      async (locks) => {
        const semaphore = locks.semaphore('key', { permits: 2 });
        await semaphore.acquire();
        await semaphore.run(() => {});
        return [semaphore.tryAcquire({ units: 2 })];
      },
    ],
    [
      'for as many permits as two releases free gets them',
      'granted',
      async (locks) => {
        const semaphore = locks.semaphore('key', { permits: 2 });
        await Promise.all([semaphore.run(() => {}), semaphore.run(() => {})]);
        return [semaphore.tryAcquire({ units: 2 })];
      },
    ],
    [
      'to write is refused where a reader stays',
      'refused',
      async (locks) => {
        const { read, write } = locks.rwLock('key');
        await read.acquire();
        await read.run(() => {});
        return [write.tryAcquire()];
      },
    ],
    [
      'behind a waiter that may not take the hold over is refused',
      'refused',
      async (locks) => {
        const mutex = locks.mutex('key');
        await mutex.run(() => {});
        mutex.acquire({ ttl: '5s' }).catch(() => {});
        return [mutex.tryAcquire()];
      },
    ],
    [
      'after another try is refused: the first one gets the key',
      'refused',
      async (locks) => {
        const mutex = locks.mutex('key');
        await mutex.run(() => {});
        void mutex.tryAcquire();
        return [mutex.tryAcquire()];
      },
    ],
    [
      'by wait: 0 is refused, too',
      'refused',
      async (locks) => {
        const semaphore = locks.semaphore('key', { permits: 2 });
        await semaphore.acquire();
        await semaphore.run(() => {});
        return [semaphore.acquire({ units: 2, wait: 0 }).catch(() => null)];
      },
    ],
  ])('a try %s', async (_, expected, scene) => {
    const { locks, outcomeOf } = setup(wakes, {});
    const [tried] = await scene(locks);
    expect(await outcomeOf(tried)).toBe(expected);
  });

  test('a try that ends the linger of a hold, behind another try, is refused', async () => {
    const { locks, outcomeOf } = setup(wakes, { handOff: { linger: 1_000, within: 10_000 } });
    const mutex = locks.mutex('key');
    await mutex.run(() => {});
    void mutex.tryAcquire({ ttl: '5s' });
    expect(await outcomeOf(mutex.tryAcquire())).toBe('refused');
  });

  test('a try while the key stays taken by minHold is refused, also where the process has to wait for that', async () => {
    const { clock, locks, outcomeOf } = setup(wakes, { minHold: 3_000 }, { expires: false });
    const mutex = locks.mutex('key');
    await mutex.run(() => {});
    expect(await outcomeOf(mutex.tryAcquire())).toBe('refused');
    await clock.advance(3_000);
    expect(await outcomeOf(mutex.tryAcquire()), 'after it').toBe('granted');
  });
});

test('a try that is refused after the release that it waited for is in nobody’s way', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const backend = around(engine, {
    async release(handle, next) {
      await new Promise<void>((resolve) => clock.after(100, resolve));
      return engine.release(handle, next);
    },
  });
  const mutex = createLocks(backend, { clock, awaitRelease: false, handOff: false }).mutex('key');
  await mutex.run(() => {});
  const waiting = mutex.acquire();
  const tried = mutex.tryAcquire();
  await clock.advance(200);
  expect(await tried).toBeNull();
  const released = (await waiting).release();
  await clock.advance(200);
  await released;
  expect(await createLocks(engine, { clock }).mutex('key').tryAcquire(), 'for others').not.toBeNull();
});

test('a try whose release has ended before its own answer comes keeps nothing that this answer grants', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  /** Each answer takes longer than the time after which a caller stands in the engine's queue itself. */
  const slowly = async <T>(answer: Promise<T>): Promise<T> => {
    await new Promise<void>((resolve) => clock.after(2_500, resolve));
    return answer;
  };
  const backend = around(engine, {
    attempt: (claim) => slowly(engine.attempt(claim)),
    release: (handle, next) => slowly(engine.release(handle, next)),
  });
  const semaphore = createLocks(backend, { clock, awaitRelease: false }).semaphore('key', { permits: 2 });
  const first = semaphore.acquire({ renew: false, ttl: '1h' });
  const run = semaphore.run(() => {});
  await clock.advance(2_500);
  await first;
  await run;
  const tried = semaphore.tryAcquire();
  await clock.advance(10_000);
  void (await tried)?.release();
  await clock.advance(120_000);
  expect((await listOf(createLocks(engine, { clock }).inspect('key'))).length, 'the holds there are').toBe(1);
});
