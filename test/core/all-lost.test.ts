import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { lose, manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type LockOptions } from '../../src/index.ts';

const scene = () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const locks = createLocks(engine, { clock });
  const others = createLocks(engine, { clock });
  /** What `acquire` of a and b ended with, and when. */
  const asks = async (options?: LockOptions) => {
    const error: unknown = await locks
      .all(['a', 'b'])
      .acquire(options)
      .then(() => expect.fail('b is taken'))
      .catch((error) => error);
    return { error, at: clock.now() };
  };
  const left = async (): Promise<string[]> => {
    const keys: string[] = [];
    for await (const { key, held } of engine.inspect!('')) keys.push(`${key} ${held ? 'held' : 'waited for'}`);
    return keys;
  };
  return { clock, engine, locks, others, asks, left };
};

test('all() that waits ends at once, with LOCK_LOST, when a part that it has is lost', async () => {
  const { clock, engine, others, asks, left } = scene();
  await others.mutex('b').acquire();
  const waiting = asks();
  await clock.advance(100);
  for await (const { key, token } of engine.inspect!('a')) await engine.evict!(key, token);
  await clock.advance(11_000); // the renewal of a finds it gone
  const { error, at } = await Promise.race([waiting, clock.advance(1_000).then(() => expect.fail('it waits on'))]);
  expect(error).toMatchObject({ code: 'LOCK_LOST', key: 'a' });
  expect(at, 'ms: the renewal that found it gone').toBeLessThan(10_500);
  expect(await left()).toEqual(['b held']);
});

test('all() that does not renew ends when the notice of its first part comes, and gives it back', async () => {
  const { clock, others, asks, left } = scene();
  await others.mutex('b').acquire({ ttl: '1h' });
  const waiting = asks({ ttl: 1_000, renew: false });
  await clock.advance(950);
  const { error } = await Promise.race([waiting, clock.advance(10).then(() => expect.fail('it waits on'))]);
  expect(error).toMatchObject({ code: 'LOCK_LOST', key: 'a' });
  expect(await left()).toEqual(['b held']);
});

test('all() that waits for its turn inside a frame ends at once when a part that it has is lost', async () => {
  const { clock, locks, asks, left } = scene();
  await locks.mutex('b').run(async () => {
    const child = await locks.mutex('b').acquire();
    const waiting = asks({ ttl: 1_000, renew: false });
    await clock.advance(950);
    const { error } = await Promise.race([waiting, clock.advance(10).then(() => expect.fail('it waits on'))]);
    expect(error).toMatchObject({ code: 'LOCK_LOST', key: 'a' });
    expect(await left()).toEqual(['b held']);
    await child.release();
  });
});

test('the caller’s own signal ends all() as before, with its reason, and nothing listens to it afterwards', async () => {
  const { clock, others, asks, left } = scene();
  await others.mutex('b').acquire();
  const own = new AbortController();
  let listening = 0;
  const { signal } = own;
  const { addEventListener: add, removeEventListener: remove } = signal;
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listening++;
    add.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listening--;
    remove.apply(signal, args);
  };
  const waiting = asks({ signal });
  await clock.advance(10);
  own.abort('enough');
  const { error } = await Promise.race([waiting, clock.advance(1_000).then(() => expect.fail('it waits on'))]);
  expect(error).toMatchObject({ code: 'LOCK_ABORTED', cause: 'enough' });
  expect(await left()).toEqual(['b held']);
  expect(listening).toBe(0);
});

test('a wait that was ended does not stay for the note of an adaptive lease', async () => {
  const { clock, engine } = scene();
  const mute = around(engine, { hints: { read: () => new Promise(() => {}), write: async () => {} } });
  const locks = createLocks(mute, { clock, adaptive: { cap: '1m' } });
  const own = new AbortController();
  const waiting = locks
    .mutex('a')
    .acquire({ signal: own.signal })
    .catch((error) => error);
  own.abort('enough');
  const error = await Promise.race([waiting, clock.advance(100).then(() => expect.fail('it waits on'))]);
  expect(error).toMatchObject({ code: 'LOCK_ABORTED', cause: 'enough' });
});

test('all() with everything in hand is one lease, lost when a part is', async () => {
  const { locks } = scene();
  const lease = await locks.all(['a', 'b']).acquire();
  expect(lease.signal.aborted).toBe(false);
  lose(lease);
  expect(lease.signal.aborted).toBe(true);
  expect(lease.signal.reason).toMatchObject({ code: 'LOCK_LOST', key: 'a' });
  await lease.release();
});

test('a signal of several keys that somebody listens to is forgotten with its lease', async () => {
  const locks = createLocks(memory());
  const signals: WeakRef<AbortSignal>[] = [];
  for (let i = 0; i < 20; i++)
    await locks.all(['a', 'b']).run(({ signal }) => {
      signal.addEventListener('abort', () => {});
      signals.push(new WeakRef(signal));
    });
  await locks.close();
  // A turn of the event loop, for what a WeakRef was made of stays until then.
  await new Promise(setImmediate);
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  expect(signals.filter((signal) => signal.deref()).length, 'of 20').toBeLessThan(5);
});
