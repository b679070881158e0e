import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { channels } from '../../src/core/contract/events.ts';
import { createLocks, type LockError } from '../../src/index.ts';

const codeOf = ({ code }: LockError): string => code;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('closing waits for an attempt under way, so that what it is granted is given back before the engine is closed', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const seen: string[] = [];
  const slow: Backend = {
    name: engine.name,
    traits: engine.traits,
    attempt: async (claim) => {
      await new Promise<void>((resume) => clock.after(500, resume));
      return engine.attempt(claim);
    },
    renew: (claims) => engine.renew(claims),
    release: async (handle, next) => {
      seen.push('release');
      return engine.release(handle, next);
    },
    inspect: (prefix) => engine.inspect!(prefix),
    close: async () => void seen.push('close'),
  };
  const locks = createLocks(slow, { clock });
  const waiting = expect(locks.mutex('key').acquire()).rejects.toThrow(
    expect.objectContaining({ code: 'LOCK_CLOSED' }),
  );
  const closed = locks.close();
  await clock.advance(1_000);
  await Promise.all([waiting, closed]);
  expect(seen).toEqual(['release', 'close']);
  for await (const standing of engine.inspect!('')) expect.fail(`${standing.key} was left behind`);
  expect(clock.pending, 'timers left behind').toBe(0);
});

test('closing takes no longer than the patience with an engine that does not answer', async () => {
  const clock = manualClock(1);
  const { traits } = memory();
  const never = () => new Promise<never>(() => {});
  let closed = false;
  const locks = createLocks(
    { name: 'mute', traits, attempt: never, renew: never, release: never, close: async () => {} },
    { clock },
  );
  locks
    .mutex('key')
    .acquire()
    .catch(() => {});
  void locks.close().then(() => {
    closed = true;
  });
  await clock.advance(6_000);
  expect(closed).toBe(true);
});

test('closing keeps minHold: the key stays taken for the rest of it, without the process', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const locks = createLocks(engine, { clock });
  const others = createLocks(engine, { clock }).mutex('job');
  await locks.mutex('job').acquire({ minHold: '1m' });
  await locks.close();
  await clock.advance(59_000);
  expect(await others.tryAcquire(), 'before the minute is over').toBeNull();
  await clock.advance(2_000);
  const lease = await others.tryAcquire();
  expect(lease, 'after it').not.toBeNull();
  await lease!.release();
});

test('where holds cannot expire by themselves, closing does not stay for minHold, nor leaves a timer for it', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const locks = createLocks(around(engine, { traits: { ...engine.traits, expires: false } }), { clock });
  const lease = await locks.mutex('job').acquire({ minHold: '1h' });
  const released = lease.release();
  const closed = locks.close();
  await clock.advance(6_000);
  await Promise.all([closed, released]);
  expect(clock.pending, 'timers left behind').toBe(0);
});

test('nothing is asked of an engine that was closed, and no timer stays to ask it', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  let closed = false;
  const after: string[] = [];
  const failing = around(engine, {
    attempt: () => Promise.reject(new Error('no connection')),
    release: () => {
      if (closed) after.push('release');
      return Promise.reject(new Error('no connection'));
    },
    close: async () => {
      closed = true;
    },
  });
  const locks = createLocks(failing, { clock });
  await expect(locks.mutex('key').tryAcquire()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  const closing = locks.close();
  await clock.advance(5_100);
  await closing;
  expect(clock.pending, 'timers left behind').toBe(0);
  await clock.advance(30_000);
  expect(after).toEqual([]);
});

test('run() rejects, and never begins its function, when a listener of its grant has closed the Locks', async () => {
  const locks = createLocks(memory());
  const close = (): void => void locks.close();
  channels.acquired.subscribe(close);
  let ran = false;
  const run = locks.mutex('key').run(() => {
    ran = true;
  });
  await expect(run).rejects.toMatchObject({
    code: 'LOCK_LOST',
    message: expect.stringContaining('its Locks were closed'),
  });
  channels.acquired.unsubscribe(close);
  expect(ran).toBe(false);
});

test('run() of all() rejects, and never begins its function, when the Locks are closed after it got its last key', async () => {
  const locks = createLocks(memory());
  const holding = Promise.withResolvers<void>();
  const first = locks.mutex('c').run(() => holding.promise);
  let ran = false;
  const run = locks.all(['a', 'b', 'c']).run(() => {
    ran = true;
  });
  const outcome = run.then(() => 'resolved', codeOf);
  await turn();
  holding.resolve();
  await first;
  await locks.close();
  expect([await outcome, ran]).toEqual(['LOCK_LOST', false]);
});

test('run() inside itself rejects, and never begins its function, when a listener of its entry has closed the Locks', async () => {
  const locks = createLocks(memory());
  const mutex = locks.mutex('key');
  const close = (): void => void locks.close();
  channels.reentered.subscribe(close);
  let ran = false;
  const inside = () =>
    mutex.run(() => {
      ran = true;
    });
  const outcome = await mutex.run(() => inside().then(() => 'resolved', codeOf));
  channels.reentered.unsubscribe(close);
  expect([outcome, ran]).toEqual(['LOCK_LOST', false]);
});
