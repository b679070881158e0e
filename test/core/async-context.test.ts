import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { lose, manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { systemClock } from '../../src/core/contract/clock.ts';
import { channels, type LockEvent } from '../../src/core/contract/events.ts';
import { type Backend, createLocks } from '../../src/index.ts';

/** What an application keeps per request. */
const request = new AsyncLocalStorage<string>();
const here = (): string => request.getStore() ?? 'nobody';

const scene = () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  return { clock, engine, locks: createLocks(engine, { clock, ttl: 3_000 }) };
};

/** Events as `name key: whose context they came in`. */
const events: string[] = [];
const listeners = Object.entries(channels).map(([name, channel]) => {
  const listener = (event: unknown) => void events.push(`${name} ${(event as LockEvent).label}: ${here()}`);
  return { start: () => channel.subscribe(listener), stop: () => channel.unsubscribe(listener) };
});

beforeEach(() => {
  events.length = 0;
  for (const { start } of listeners) start();
});
afterEach(() => {
  for (const { stop } of listeners) stop();
});

test('a loss is told in the context of whoever asked for the signal, whoever armed the timer', async () => {
  const { clock, engine, locks } = scene();
  const told: string[] = [];
  const take = (name: string) =>
    request.run(name, async () => {
      const lease = await locks.mutex(name).acquire({ label: name });
      lease.signal.addEventListener('abort', () => told.push(`${name}: ${here()}`));
      return lease;
    });
  const leases = [await take('a'), await take('b')];
  for (const { key, token } of leases) await engine.evict!(key, token);
  await request.run('c', () => clock.advance(3_000));
  expect(told).toEqual(['a: a', 'b: b']);
  expect(events.filter((event) => event.startsWith('lost'))).toEqual(['lost a: a', 'lost b: b']);
});

test('what a lost lease’s listener takes is never the hold that another request is in', async () => {
  const locks = createLocks(memory());
  const hot = locks.mutex('hot');
  const lost = await locks.mutex('other').acquire({ ttl: 90, renew: false });
  const stranger = new Promise((resolve) => {
    lost.signal.addEventListener('abort', () => resolve(hot.tryAcquire()));
  });
  await hot.run(async (lease) => {
    // From here on the timer that all leases share is armed inside.
    await locks.mutex('third').acquire({ ttl: 30, renew: false });
    expect(await stranger, `a second one inside, beside token ${lease.token}`).toBeNull();
  });
  await locks.close();
});

test('a loss that another request brings about is told in the context of whose lease it is', async () => {
  const { locks } = scene();
  let told = '';
  const lease = await request.run('holder', async () => {
    const lease = await locks.mutex('key').acquire();
    lease.signal.addEventListener('abort', () => {
      told = here();
    });
    return lease;
  });
  request.run('other', () => lose(lease));
  expect(told).toBe('holder');
});

test('each lease of a re-entered hold has a signal of its own, and a released one is never told', async () => {
  const { locks } = scene();
  const told: string[] = [];
  const mutex = locks.mutex('key');
  await request.run('outer', () =>
    mutex.run(async (outer) => {
      outer.signal.addEventListener('abort', () => told.push(`outer: ${here()}`));
      const [inner] = await request.run('inner', async () => {
        const gone = await mutex.acquire();
        gone.signal.addEventListener('abort', () => told.push('released'));
        await gone.release();
        const inner = await mutex.acquire();
        inner.signal.addEventListener('abort', () => told.push(`inner: ${here()}`));
        return [inner];
      });
      lose(inner!);
    }),
  );
  expect(told.sort()).toEqual(['inner: inner', 'outer: outer']);
});

test('events of a lock are told in the context of its caller, whoever made way', async () => {
  const { clock, locks } = scene();
  const take = (label: string, options = {}) =>
    request.run(label, () => locks.mutex('key').acquire({ label, handOff: false, ...options }));
  const first = await take('first');
  const abort = new AbortController();
  const second = take('second', { signal: abort.signal });
  second.catch(() => {});
  const third = take('third', { handOff: {} });
  const fourth = take('fourth', { handOff: {} });
  await clock.advance(10);
  request.run('stranger', () => abort.abort());
  await clock.advance(10);
  await request.run('stranger', () => first.release());
  const handing = await third;
  await request.run('stranger', () => handing.release());
  await (await fourth).release();
  await clock.advance(10);
  expect(events.sort()).toEqual(
    [
      'acquired first: first',
      'waiting second: second',
      'waiting third: third',
      'aborted second: second',
      'waiting fourth: fourth',
      'released first: first',
      'acquired third: third',
      'released third: third',
      'handedOver fourth: fourth',
      'released fourth: fourth',
    ].sort(),
  );
});

test('an event of a lock that was asked for before anybody listened is told in no caller’s context', async () => {
  for (const { stop } of listeners) stop();
  const { locks } = scene();
  const lease = await request.run('holder', () => locks.mutex('key').acquire({ label: 'key' }));
  for (const { start } of listeners) start();
  await request.run('stranger', () => lease.release());
  expect(events).toEqual(['released key: nobody']);
});

test('the engine is asked in no caller’s context, so that what it opens and arms belongs to nobody', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const asked = new Map<string, Set<string>>();
  const note = (name: string): void => {
    asked.set(name, (asked.get(name) ?? new Set()).add(here()));
  };
  const calls: Record<string, unknown> = {
    hints: {
      read(name: string) {
        note('read');
        return engine.hints!.read(name);
      },
      write(name: string, text: string | undefined, ttl: number) {
        note('write');
        return engine.hints!.write(name, text, ttl);
      },
    },
  };
  for (const name of ['attempt', 'renew', 'release', 'watch', 'inspect', 'evict', 'close'] as const) {
    const call = engine[name]!.bind(engine) as (...args: unknown[]) => unknown;
    calls[name] = (...args: unknown[]) => {
      note(name);
      return call(...args);
    };
  }
  calls.check = async () => {
    note('check');
    return [];
  };
  const locks = createLocks(around(engine, calls as Partial<Backend>), { clock, ttl: 3_000 });
  await request.run('caller', async () => {
    const lease = await locks.mutex('key').acquire();
    const waiting = locks
      .mutex('key')
      .acquire({ wait: 1_000, handOff: false })
      .catch(() => {});
    const other = createLocks(around(engine, calls as Partial<Backend>), { clock });
    const queued = other.mutex('key').acquire();
    await clock.advance(1_500);
    await lease.release();
    await (await queued).release();
    await waiting;
    await locks.mutex('adaptive').run(() => clock.advance(2_900), { adaptive: { cap: 60_000 } });
    const left = await locks.mutex('key').acquire();
    await locks.forceRelease('key', { reason: 'a test' });
    await left.release();
    await locks.check();
    await locks.close();
    await other.close();
  });
  expect([...asked.keys()].sort()).toEqual(
    ['attempt', 'check', 'close', 'evict', 'inspect', 'read', 'release', 'renew', 'watch', 'write'].sort(),
  );
  expect([...asked].filter(([, by]) => by.has('caller')).map(([name]) => name)).toEqual([]);
});

test('the machine’s clock calls back in no caller’s context', async () => {
  const seen: string[] = [];
  await request.run('caller', async () => {
    await new Promise<void>((resolve) => systemClock.after(1, () => resolve(void seen.push(here()))));
    await new Promise<void>((resolve) => systemClock.turn!(() => resolve(void seen.push(here()))));
    seen.push(here());
  });
  expect(seen).toEqual(['nobody', 'nobody', 'caller']);
});

test('a hold whose loss was told is not entered again, also not by a listener inside', async () => {
  const { clock, engine, locks } = scene();
  const mutex = locks.mutex('key');
  let again: Promise<unknown> = Promise.resolve();
  await mutex.run(
    async (lease) => {
      lease.signal.addEventListener('abort', () => {
        again = mutex.tryAcquire().catch((error) => error);
      });
      await clock.advance(2_800);
      expect([lease.signal.aborted, lease.held], 'told, and some time is left').toEqual([true, true]);
    },
    { renew: false, notice: 1_000 },
  );
  expect(await again).toMatchObject({ code: 'LOCK_LOST' });
  for await (const { held } of engine.inspect!('key')) expect(held).toBe(false);
});
