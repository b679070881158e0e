import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';

function scene() {
  const clock = manualClock(1);
  const engine = memory({ clock });
  return { clock, engine, locks: createLocks(engine, { clock, ttl: 10_000 }) };
}

test('several leases are held as long as the shortest of them, and lost with the first', async () => {
  const { clock, locks } = scene();
  const lease = await locks.all(['a', 'b']).acquire({ renew: false });
  await lease.parts[0]!.extend(60_000);
  expect(lease.remaining).toBe(lease.parts[1]!.remaining);
  lease.assertHeld();
  await locks.forceRelease('b', { reason: 'the test' });
  await clock.advance(10_000);
  expect(lease.held).toBe(false);
  expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_LOST' }));
});

test('several leases have one signal, whoever asks for it and how often', async () => {
  const { locks } = scene();
  const lease = await locks.all(['a', 'b']).acquire();
  expect(lease.signal).toBe(lease.signal);
  await lease.release();
});

test('to extend several leases is to extend each', async () => {
  const { locks } = scene();
  const lease = await locks.all(['a', 'b']).acquire({ renew: false });
  await lease.extend(60_000);
  for (const part of lease.parts) expect(part.remaining).toBeGreaterThan(50_000);
  await lease.release();
});

test('to release several leases is said to have freed them only where it freed all', async () => {
  const { clock, locks } = scene();
  const lease = await locks.all(['a', 'b']).acquire();
  await lease.parts[0]!.release();
  const freed = lease.release();
  await clock.advance(1);
  expect(await freed).toBe(false);
  expect(await locks.mutex('b').tryAcquire(), 'the rest is free').not.toBeNull();
});

test('several leases are given back at the end of their block', async () => {
  const { locks } = scene();
  {
    await using lease = await locks.all(['a', 'b']).acquire();
    expect(lease.held).toBe(true);
  }
  for (const key of ['a', 'b']) expect(await locks.mutex(key).tryAcquire({ handOff: false }), key).not.toBeNull();
});

test('a signal that is used again and again keeps no listener of several locks', async () => {
  const { locks } = scene();
  const { signal } = new AbortController();
  await locks.all(['a', 'b']).run(() => {}, { signal });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('only what is held alone has a token', async () => {
  const { locks } = scene();
  const lease = await locks
    .all([locks.rwLock('a').read, locks.mutex('b'), locks.semaphore('c', { permits: 2 })])
    .acquire();
  expect([...lease.tokens.keys()]).toEqual(['b']);
  await lease.release();
});

test('who comes with a signal that is aborted already, or aborts while it waits for the second, has neither', async () => {
  const { clock, engine, locks } = scene();
  const other = createLocks(engine, { clock });
  const aborted = locks.all(['a', 'b']).acquire({ signal: AbortSignal.abort() });
  await expect(aborted).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
  const holder = await other.mutex('b').acquire();
  const controller = new AbortController();
  const waiting = expect(locks.all(['a', 'b']).acquire({ signal: controller.signal })).rejects.toMatchObject({
    code: 'LOCK_ABORTED',
  });
  await clock.advance(100);
  controller.abort();
  await clock.advance(100);
  await waiting;
  const free = await other.mutex('a').tryAcquire();
  expect(free).not.toBeNull();
  await Promise.all([holder.release(), free!.release()]);
});

test('an engine of exclusive locks only has no readers', () => {
  const engine = memory();
  const exclusive = Object.assign(engine, { traits: { ...engine.traits, units: 'exclusive' as const } });
  expect(() => createLocks(exclusive).rwLock('a')).toThrow(expect.objectContaining({ code: 'LOCK_UNSUPPORTED' }));
  expect(() => createLocks(exclusive).semaphore('a', { permits: 2 })).toThrow(
    expect.objectContaining({ code: 'LOCK_UNSUPPORTED' }),
  );
});

test('a semaphore has at least one permit, gives one at a time unless more are asked for, and has the options of a lock', async () => {
  const { clock, locks } = scene();
  expect(() => locks.semaphore('a', { permits: 0 })).toThrow(/permits is 0/);
  const one = locks.semaphore('a', { permits: 1, ttl: 2_000 });
  const lease = await one.acquire({ renew: false });
  expect(lease.remaining, 'its own ttl').toBeLessThan(2_001);
  await expect(one.acquire({ units: 0, wait: 0 })).rejects.toThrow(/units is 0/);
  await lease.release();
  const three = locks.semaphore('b', { permits: 3 });
  const [first, second] = [await three.acquire(), await three.acquire({ units: 2 })];
  expect(await three.tryAcquire()).toBeNull();
  await Promise.all([first.release(), second.release()]);
  await clock.advance(1);
});
