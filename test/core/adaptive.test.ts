import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { learn, lessonIn, textOf } from '../../src/core/queue/adaptive-history.ts';
import { createLocks, type LockOptions } from '../../src/index.ts';

const TTL = 1_000;
const CAP = 60_000;

test('work well within its lease leaves nothing to remember', () => {
  expect(learn(undefined, 600, TTL, CAP)).toBeUndefined();
  expect(learn(undefined, 600, 900, CAP), 'half as long again is just its lease').toBeUndefined();
});

test('work that came close makes the next lease half as long again, up to the cap', () => {
  expect(learn(undefined, 900, TTL, CAP)).toEqual({ usual: 900, lease: 1_350 });
  expect(learn(undefined, 667, TTL, CAP), 'no shorter, by a part of a millisecond').toEqual({
    usual: 667,
    lease: 1_001,
  });
  expect(learn(undefined, 900, TTL, 1_200)).toEqual({ usual: 900, lease: 1_200 });
});

test('the usual is 8 parts old and 2 parts new: one quick run forgets nothing, several do', () => {
  let lesson = learn(undefined, 10_000, TTL, CAP);
  const leases: number[] = [];
  for (; lesson; lesson = learn(lesson, 100, TTL, CAP)) leases.push(lesson.lease);
  expect(leases.slice(0, 3)).toEqual([15_000, 12_030, 9_654]);
  expect(leases.length).toBeGreaterThan(10);
});

test('what is written is read; anything else is ignored', () => {
  const lesson = { usual: 900, lease: 1_350 };
  expect(lessonIn(textOf(lesson))).toEqual(lesson);
  for (const text of [undefined, '', '2 900 1350', '1 900', '1 -1 5', '{}']) expect(lessonIn(text)).toBeUndefined();
});

const clock = manualClock();
const ADAPTIVE: LockOptions = { ttl: TTL, adaptive: { cap: CAP } };

/** Each run in a process of its own, as far as the engine can tell; whether its lease lasted. */
async function runs(
  backend: Backend,
  durations: readonly number[],
  options: LockOptions = ADAPTIVE,
): Promise<boolean[]> {
  const lasted: boolean[] = [];
  for (const [i, ms] of durations.entries()) {
    const lock = createLocks(backend, { clock }).mutex('job', options);
    const lease = await lock.acquire();
    await clock.advance(ms);
    lasted.push(lease.held);
    const freed = lease.release();
    await clock.advance(1);
    expect(await freed, `run ${i} of ${ms} ms`).toBe(lasted[i]);
  }
  return lasted;
}

test('work that grows slower outlives its lease the first time at most', async () => {
  const growing = Array.from({ length: 20 }, (_, i) => Math.round(1_100 * 1.2 ** i));
  const [first, ...others] = await runs(memory({ clock }), growing);
  expect(first).toBe(false);
  expect(others).toEqual(others.map(() => true));
  const plain = await runs(memory({ clock }), growing.slice(0, 3), { ttl: TTL, renew: false });
  expect(plain).toEqual([false, false, false]);
});

test('the cap is kept, also when it was larger once', async () => {
  const backend = memory({ clock });
  expect(await runs(backend, [5_000, 5_000])).toEqual([false, true]);
  expect(await runs(backend, [5_000], { ttl: TTL, adaptive: { cap: 2_000 } })).toEqual([false]);
});

test('a group shares what it learns, over keys; after a day it is forgotten', async () => {
  const locks = createLocks(memory({ clock }), { clock, ttl: TTL, adaptive: { group: 'reports', cap: CAP } });
  const remaining = async (key: string, work: number): Promise<number> => {
    const lease = await locks.mutex(key).acquire();
    const left = lease.remaining;
    await clock.advance(work);
    await lease.release();
    return left;
  };
  expect(await remaining('report:1', 3_000)).toBeLessThan(TTL);
  expect(await remaining('report:2', 3_000)).toBeGreaterThan(4_000);
  await clock.advance(86_400_000);
  expect(await remaining('report:3', 0)).toBeLessThan(TTL);
});

/** An engine over notes that are kept here, and answer after `ms`. */
function noting(ms = 0) {
  const written: [group: string, text: string | undefined][] = [];
  const passed = () => ms > 0 && new Promise<void>((resolve) => clock.after(ms, resolve));
  const notes = {
    read: async (group: string) => {
      await passed();
      return written.findLast(([of]) => of === group)?.[1];
    },
    write: async (group: string, text: string | undefined) => {
      await passed();
      written.push([group, text]);
    },
  };
  const backend: Backend = Object.assign(memory({ clock }), { hints: notes });
  return { backend, written };
}

test('what is learnt of a key or a group is nothing to another one', async () => {
  const { backend } = noting();
  const options: LockOptions = { ttl: TTL, adaptive: { group: 'reports', cap: CAP } };
  expect(await runs(backend, [5_000, 5_000], options)).toEqual([false, true]);
  expect(await runs(backend, [5_000, 5_000])).toEqual([false, true]);
});

test('work that is well within its lease writes nothing, until there is something to forget', async () => {
  const { backend, written } = noting();
  await runs(backend, [100, 5_000, 100]);
  expect(written.map(([, text]) => text)).toEqual(['1 5000 7500', '1 4020 6030']);
  await runs(
    backend,
    Array.from({ length: 20 }, () => 100),
  );
  expect(written.at(-1)).toEqual(['job', undefined]);
  const { length } = written;
  await runs(backend, [100]);
  expect(written).toHaveLength(length);
});

test('a lesson that takes its time, but less than a second, is waited for', async () => {
  const { backend } = noting(400);
  const writing = backend.hints!.write('job', '1 5000 7500', 0);
  await clock.advance(400);
  await writing;
  const acquired = createLocks(backend, { clock }).mutex('job', ADAPTIVE).acquire();
  await clock.advance(400);
  const lease = await acquired;
  expect(lease.remaining).toBeGreaterThan(TTL);
  await clock.advance(8_000);
  const over = lease.release();
  await clock.advance(1_000);
  expect(await over).toBe(false);
});

test('a release that is answered has left its lesson', async () => {
  const { backend, written } = noting(400);
  const acquired = createLocks(backend, { clock }).mutex('job', ADAPTIVE).acquire();
  await clock.advance(400);
  const lease = await acquired;
  await clock.advance(900);
  const known = lease.release().then(() => written.length);
  await clock.advance(400);
  expect(await known).toBe(1);
});

test('a signal that is used again and again keeps no listener of a lesson', async () => {
  const { signal } = new AbortController();
  await runs(noting().backend, [100], { ...ADAPTIVE, signal });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('who gives up waits for no lesson', async () => {
  const backend = Object.assign(memory({ clock }), { hints: { read: () => new Promise<never>(() => {}) } });
  const lock = createLocks(backend, { clock }).mutex('job', ADAPTIVE);
  const controller = new AbortController();
  const from = clock.now();
  const given = lock.acquire({ signal: controller.signal }).catch(({ code }) => [code, clock.now() - from]);
  await clock.advance(100);
  controller.abort();
  await clock.advance(1);
  expect(await Promise.race([given, 'still waiting'])).toEqual(['LOCK_ABORTED', 100]);
  expect(await lock.acquire({ signal: AbortSignal.abort() }).catch(({ code }) => code)).toBe('LOCK_ABORTED');
});

test('an engine whose notes fail or hang is a lock without lessons', async () => {
  for (const trouble of [() => Promise.reject(new Error('down')), () => new Promise<never>(() => {})]) {
    const backend = Object.assign(memory({ clock }), { hints: { read: trouble, write: trouble } });
    const lock = createLocks(backend, { clock }).mutex('job', { ...ADAPTIVE, ttl: 10_000 });
    const acquired = lock.acquire();
    await clock.advance(1_000);
    const lease = await acquired;
    expect(lease.remaining).toBeGreaterThan(8_000);
    await clock.advance(8_000);
    const released = lease.release();
    await clock.advance(1_000);
    expect(await released).toBe(true);
  }
});

test('nobody waits for a lesson longer than for the lock', async () => {
  const backend = Object.assign(memory({ clock }), { hints: { read: () => new Promise<never>(() => {}) } });
  const holder = await createLocks(backend, { clock }).mutex('job').acquire();
  const waiting = createLocks(backend, { clock }).mutex('job', ADAPTIVE).acquire({ wait: 100 });
  const refused = expect(waiting).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  await clock.advance(110);
  await refused;
  await holder.release();
});

test('locks that are closed while a lesson is read take nothing', async () => {
  const { promise: lesson, resolve: tell } = Promise.withResolvers<undefined>();
  const backend = Object.assign(memory({ clock }), { hints: { read: () => lesson } });
  const locks = createLocks(backend, { clock });
  const acquired = expect(locks.mutex('job', ADAPTIVE).acquire()).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  await locks.close();
  tell(undefined);
  await acquired;
});

test('what cannot be is refused when the lock is made', () => {
  const locks = createLocks(memory());
  expect(() => locks.mutex('k', { adaptive: { cap: 10 } })).toThrow(/adaptive.cap is 10; it must be from 30 s/);
  expect(() => locks.mutex('k', { adaptive: { cap: '1h' }, renew: true })).toThrow(/leave renew out/);
  expect(() => locks.mutex('k', { adaptive: { cap: '1h', group: '' } })).toThrow(/a group must not be empty/);
  expect(() => locks.mutex('k', { adaptive: { cap: '1h', goup: '' } as never })).toThrow(/"goup" is not one of/);
  const without = Object.assign(memory(), { hints: undefined, name: 'plain' });
  expect(() => createLocks(without).mutex('k', { adaptive: { cap: '1h' } })).toThrow(
    expect.objectContaining({
      code: 'LOCK_UNSUPPORTED',
      message: expect.stringMatching(/"plain" cannot adapt its leases, since it keeps no hints/),
    }),
  );
  const engine = memory();
  const bySession = Object.assign(engine, { traits: { ...engine.traits, expires: false }, name: 'session' });
  expect(() => createLocks(bySession).mutex('k', { adaptive: { cap: '1h' } })).toThrow(
    /carries its holds by a session/,
  );
});
