import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { EXCLUSIVE, SHARED } from '../../src/core/contract/admission.ts';
import { createLocks } from '../../src/index.ts';
import { claim } from '../core/claim.ts';

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

/** An engine that asks for the time once for each key that it looks at. */
function counted() {
  const clock = manualClock(1);
  let looks = 0;
  const now = (): number => {
    looks++;
    return clock.now();
  };
  const engine = memory({ clock: { ...clock, now } });
  return {
    clock,
    engine,
    async looksOf(act: () => unknown): Promise<number> {
      looks = 0;
      await act();
      return looks;
    },
    /** Lists all keys that are kept. */
    async lists(): Promise<void> {
      for await (const _ of engine.inspect!(''));
    },
  };
}

test('keys that are left to expire and never asked for again are not kept', async () => {
  const { clock, engine, looksOf, lists } = counted();
  await using locks = createLocks(engine, { clock });
  for (let order = 0; order < 500; order++) {
    const lease = await locks.mutex(`order ${order}`).acquire({ minHold: 100 });
    await lease.release();
    await clock.advance(10);
  }
  expect(await looksOf(lists)).toBeLessThan(50);
});

test('of keys that were released, looked at or refused nothing is kept', async () => {
  const { engine, looksOf, lists } = counted();
  await engine.attempt(claim('of the only key that is held', { key: 'held' }));
  for (let order = 0; order < 20; order++) {
    const mine = claim('mine', { key: `order ${order}` });
    await engine.attempt(mine);
    await engine.attempt({ ...mine, id: 'other', queue: false });
    await engine.values!.look(`never held ${order}`);
    await engine.release(mine);
  }
  expect(await looksOf(lists)).toBe(1);
});

test('a new key costs a look at two others, however many there are', async () => {
  const { engine, looksOf } = counted();
  const looks: number[] = [];
  for (let key = 0; key < 100; key++)
    looks.push(await looksOf(() => engine.attempt(claim('mine', { key: `key ${key}` }))));
  expect(Math.max(...looks), 'with the one at itself').toBe(3);
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
