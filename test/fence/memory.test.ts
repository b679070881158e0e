import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { memoryFence } from '../../src/fence/index.ts';
import { createLocks, type Lease } from '../../src/index.ts';

/** A counter behind an asynchronous door, as a database is. */
class Counter {
  value = 0;
  readonly fence = memoryFence('the counter');

  async read(token?: bigint): Promise<number> {
    if (token !== undefined) this.fence.claim(token);
    return this.value;
  }

  async write(value: number, token?: bigint): Promise<void> {
    if (token !== undefined) this.fence.claim(token);
    this.value = value;
  }
}

/**
 * One holder reads and is paused past its lease; another takes the lock and reads; the first wakes and writes between the
 * second's read and its write.
 */
async function pausedInBetween(token: (lease: Lease, step: 'read' | 'write') => bigint | undefined) {
  const clock = manualClock(1);
  await using locks = createLocks(memory({ clock }), { clock, ttl: '1s', renew: false });
  const counter = new Counter();
  const stale = await locks.mutex('counter').acquire();
  const seenByStale = await counter.read(token(stale, 'read'));
  await clock.advance(2_000);
  const fresh = await locks.mutex('counter').acquire();
  const seenByFresh = await counter.read(token(fresh, 'read'));
  const staleWrite = await counter.write(seenByStale + 1, token(stale, 'write')).then(
    () => 'accepted',
    (error) => error.code,
  );
  const accepted = staleWrite === 'accepted' ? 2 : 1;
  await counter.write(seenByFresh + 1, token(fresh, 'write'));
  return { staleWrite, lostUpdates: accepted - counter.value };
}

test('without a guard a paused holder loses an update', async () => {
  expect(await pausedInBetween(() => undefined)).toEqual({ staleWrite: 'accepted', lostUpdates: 1 });
});

test('a guard that sees only the writes loses it all the same', async () => {
  expect(await pausedInBetween((lease, step) => (step === 'write' ? lease.token : undefined))).toEqual({
    staleWrite: 'accepted',
    lostUpdates: 1,
  });
});

test('a guard that is claimed by the first read loses nothing', async () => {
  expect(await pausedInBetween((lease) => lease.token)).toEqual({ staleWrite: 'LOCK_FENCED', lostUpdates: 0 });
});

test('a holder may claim and write as often as it likes', () => {
  const fence = memoryFence();
  fence.claim(5n);
  expect(fence.write(5n, () => 'written')).toBe('written');
  fence.claim(6n);
  expect(() => fence.write(5n, () => 'written')).toThrow(expect.objectContaining({ code: 'LOCK_FENCED' }));
});

test('what is not a token is refused before it can raise the mark', () => {
  const fence = memoryFence();
  for (const bad of [undefined, null, 5, '5', -1n]) {
    expect(() => fence.claim(bad as bigint)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
  }
  fence.claim(0n);
});
