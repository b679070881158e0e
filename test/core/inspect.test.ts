import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/manual-clock.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Listing, QueueEntry } from '../../src/core/contract/backend.ts';
import { createLocks } from '../../src/index.ts';

const STANDING: QueueEntry = {
  key: 'k',
  held: true,
  position: 0,
  token: 1n,
  units: 1,
  capacity: 1,
  label: '',
  remaining: 9,
};

async function collected(standings: AsyncIterable<QueueEntry>): Promise<QueueEntry[]> {
  const all: QueueEntry[] = [];
  for await (const standing of standings) all.push(standing);
  return all;
}

/** Locks on an engine that needs `steps` requests of `ms` each to look through its keys, and finds somebody in the end. */
function slow(steps: number, ms: number) {
  const clock = manualClock();
  async function* inspect(_: string, { progress }: Listing = {}): AsyncIterable<QueueEntry> {
    for (let i = 1; i <= steps; i++) {
      await new Promise<void>((resolve) => clock.after(ms, resolve));
      progress?.(i * 1_000);
    }
    yield STANDING;
    yield { ...STANDING, key: 'kk' };
  }
  return { clock, locks: createLocks(around(memory({ clock }), { inspect }), { clock }) };
}

test('a listing takes as long as it goes on, and says how far it is', async () => {
  const { clock, locks } = slow(20, 4_000);
  await using _ = locks;
  const told: number[] = [];
  const found = collected(locks.inspect('', { progress: (looked) => told.push(looked) }));
  await clock.advance(80_000);
  expect((await found).map(({ key }) => key)).toEqual(['k', 'kk']);
  expect(told).toEqual(Array.from({ length: 20 }, (_, i) => (i + 1) * 1_000));
});

test('a listing whose engine says nothing is given up after a few seconds, also in the middle', async () => {
  const { clock, locks } = slow(2, 6_000);
  await using _ = locks;
  const found = collected(locks.inspect('')).catch((error: unknown) => error);
  await clock.advance(5_001);
  expect(await found).toMatchObject({ code: 'LOCK_UNAVAILABLE', message: expect.stringContaining('Try again') });
  await clock.advance(20_000);
});

test('one key is listed alone, also by an engine that can only list by what names begin with', async () => {
  const { clock, locks } = slow(0, 0);
  await using _ = locks;
  const found = collected(locks.inspect('k', { exact: true }));
  await clock.advance(1);
  expect((await found).map(({ key }) => key)).toEqual(['k']);
  expect(() => locks.inspect('k', { exakt: true } as object)).toThrow(/exakt/);
  expect(() => locks.inspect('k', { exact: 1 } as object)).toThrow(/exact is 1/);
});
