import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, duration } from '../../src/index.ts';

test('isHeld tells of holders of any kind, not of waiters, nor of keys that begin alike', async () => {
  const engine = memory();
  const [locks, others] = [createLocks(engine), createLocks(engine)];
  expect(await locks.isHeld('key')).toBe(false);
  for (const lock of [others.mutex('key'), others.rwLock('key').read, others.semaphore('key', { permits: 2 })]) {
    const lease = await lock.acquire();
    const waits = locks.mutex('key').acquire();
    expect([await locks.isHeld('key'), await locks.isHeld('ke'), await locks.isHeld('key2')]).toEqual([
      true,
      false,
      false,
    ]);
    await lease.release();
    await (await waits).release();
  }
  expect(await locks.isHeld('key')).toBe(false);
  await expect(locks.isHeld('')).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  const blind = createLocks(around(engine, { inspect: undefined as never }));
  await expect(blind.isHeld('key')).rejects.toMatchObject({ code: 'LOCK_UNSUPPORTED' });
});

test.each(['250ms', '30s', '1.5m', '2 h'])('the text %s is a duration', async (text) => {
  const ttl = duration(text);
  expect(ttl).toBe(text);
  createLocks(memory(), { maxHold: ttl });
});

test.each(['', '30', 'soon', '-1s', '1y', undefined])('the text %s is none, and is refused at once', (text) => {
  expect(() => duration(text as string)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
});

test('a lock is shown in a log by its key and engine', () => {
  const locks = createLocks(memory());
  expect(inspect(locks.mutex('order:42'))).toBe('Lock("order:42" on memory)');
  expect(inspect({ both: locks.all(['b', 'a']) })).toBe('{ both: Lock("a, b" on memory) }');
});
