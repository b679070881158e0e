import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { EXCLUSIVE, SHARED } from '../../src/core/contract/admission.ts';
import { createLocks } from '../../src/index.ts';

test('a place that expired is not admitted when the hold ahead of it expires too', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const claim = { key: 'key', ...EXCLUSIVE, queue: true, tokenCount: 1, within: 1_000, label: '' };
  await engine.attempt({ ...claim, id: 'holder', ttl: 500 });
  await engine.attempt({ ...claim, id: 'waiter', ttl: 400 });
  await clock.advance(1_000);
  const { granted } = await engine.attempt({ ...claim, id: 'next', ttl: 500, queue: false });
  expect(granted).toBe(true);
});

test('keys that are left to expire and never asked for again are not kept', async () => {
  const clock = manualClock(1);
  let looks = 0;
  const now = (): number => {
    looks++;
    return clock.now();
  };
  const engine = memory({ clock: { ...clock, now } });
  await using locks = createLocks(engine, { clock });
  for (let order = 0; order < 500; order++) {
    const lease = await locks.mutex(`order ${order}`).acquire({ minHold: 100 });
    await lease.release();
    await clock.advance(10);
  }
  looks = 0;
  for await (const _ of engine.inspect!('')); // asks for the time once for each key that is kept
  expect(looks).toBeLessThan(50);
});

test('130,000 readers are counted like any others', { timeout: 60_000 }, async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const claim = { key: 'key', queue: true, tokenCount: 1, within: 1_000, label: '', ttl: 60_000 };
  for (let reader = 0; reader < 130_000; reader++)
    await engine.attempt({ ...claim, ...SHARED, id: `reader ${reader}` });
  const writer = { ...claim, ...EXCLUSIVE, id: 'writer' };
  expect(await engine.attempt(writer)).toEqual({ granted: false, ahead: 130_000, retryAfter: 60_000 });
  await clock.advance(60_000);
  expect((await engine.attempt({ ...writer, id: 'next' })).granted).toBe(true);
});
