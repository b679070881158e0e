import { expect, test } from 'vitest';
import { faulty, heldByAnother, manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';

function scene() {
  const clock = manualClock();
  const shared = memory({ clock });
  const engine = faulty(shared, clock);
  return { clock, engine, locks: createLocks(engine, { clock, ttl: '10s' }), others: createLocks(shared, { clock }) };
}

test('an engine that is down refuses at once, ends what is held, and works again when it is up', async () => {
  const { clock, engine, locks, others } = scene();
  const lock = locks.mutex('key');
  const lease = await lock.acquire();
  engine.down();
  await expect(locks.mutex('other').tryAcquire()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await expect(locks.isHeld('key')).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await expect(locks.memo('memo').peek()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(15_000);
  expect([lease.held, lease.signal.aborted, await others.isHeld('key')]).toEqual([false, true, false]);
  engine.up();
  expect(await lock.run(() => 'again')).toBe('again');
});

test.each([
  'request',
  'reply',
] as const)('where each %s is lost nobody knows the outcome, and nothing is left behind', async (what) => {
  const { clock, engine, locks, others } = scene();
  engine.lose(what);
  const refused = expect(locks.mutex('key').tryAcquire()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(0);
  expect(await others.isHeld('key'), 'whether it arrived').toBe(what === 'reply');
  await clock.advance(5_000);
  await refused;
  engine.up();
  await clock.advance(10_000);
  expect(await others.isHeld('key')).toBe(false);
});

test('a slow engine answers and wakes so much later', async () => {
  const { clock, engine, locks, others } = scene();
  const held = await others.mutex('key').acquire();
  engine.slow('3s');
  const waits = locks.mutex('key').acquire({ wait: '1m' });
  const short = locks.mutex('key2').acquire({ wait: '2s' });
  const refused = expect(short).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(2_000);
  await refused;
  await clock.advance(5_000);
  const from = clock.now();
  await held.release();
  const lease = waits.then((lease) => ({ lease, after: clock.now() - from }));
  await clock.advance(9_000);
  expect((await lease).after).toBeGreaterThanOrEqual(3_000);
  expect(() => engine.slow('soon' as never)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
});

test('undisturbed it is as the engine itself', async () => {
  const { clock, locks, others } = scene();
  const held = await others.mutex('key').acquire();
  const waits = locks.mutex('key').acquire();
  await clock.advance(10);
  await held.release();
  await clock.advance(0);
  await (await waits).release();
  expect(await locks.memo<number>('memo', { keep: '1h' }).run(() => 7)).toMatchObject({ value: 7, kept: true });
});

test('another process holds a key in one line, until its block ends', async () => {
  const { locks } = scene();
  {
    await using held = await heldByAnother(locks, 'key', { ttl: '1m' });
    expect(held.lease.held).toBe(true);
    expect(await locks.mutex('key').tryAcquire()).toBeNull();
    await expect(heldByAnother(locks, 'key')).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  }
  const lease = await locks.mutex('key').acquire({ wait: 0 });
  await lease.release();
  await locks.mutex('key').run(async () => {
    await expect(heldByAnother(locks, 'key'), 'it is another process here, too').rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
    });
  });
});
