import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import type { Backend, QueueEntry } from '../../../src/core/contract/backend.ts';
import { createLocks } from '../../../src/index.ts';

/** Of three nodes, one that hangs. */
function scene() {
  const clock = manualClock(1);
  const lost = new Promise<never>(() => {});
  const hung: Partial<Backend> = {
    attempt: () => lost,
    release: () => lost,
    check: () => lost,
    evict: () => lost,
    inspect: async function* () {
      yield await lost;
    },
  };
  const nodes = [memory({ clock }), memory({ clock }), around(memory({ clock }), hung)];
  return { clock, locks: createLocks(quorum(nodes, { clock }), { clock }) };
}

test('a node that hangs does not keep people from looking at the others', async () => {
  const { clock, locks } = scene();
  await locks.mutex('key').acquire();
  const listed: QueueEntry[] = [];
  const listing = (async () => {
    for await (const standing of locks.inspect()) listed.push(standing);
  })();
  await clock.advance(6_000);
  await listing;
  expect(listed).toMatchObject([{ key: 'key', held: true }]);
  const checked = locks.check();
  await clock.advance(6_000);
  expect(await checked).toContainEqual(expect.objectContaining({ code: 'node-unavailable' }));
});

test('a node that hangs does not keep people from evicting a holder', async () => {
  const { clock, locks } = scene();
  const lease = await locks.mutex('key').acquire();
  const forced = locks.forceRelease('key', { reason: 'stuck' });
  await clock.advance(12_000);
  expect(await forced).toBe(1);
  const next = locks.mutex('key').acquire({ wait: 1_000 });
  await clock.advance(1_000);
  expect((await next).token).toBeGreaterThan(lease.token);
});
