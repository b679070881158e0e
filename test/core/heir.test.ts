/** A caller that gives up leaves its claim in the line of the engine to the next equal caller of its process. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';

test('who takes over a claim asks on in its stead, holds alone, and lets in the next one', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const ids = new Set<string>();
  let asked = 0;
  const backend = around(engine, {
    traits: { ...engine.traits, wakes: 'never' },
    attempt(claim) {
      asked++;
      ids.add(claim.id);
      return engine.attempt(claim);
    },
  });
  const others = createLocks(engine, { clock }).mutex('key');
  const mutex = createLocks(backend, { clock, spin: { pause: 100, bound: 100, jitter: 0 } }).mutex('key');
  const theirs = await others.acquire();
  const first = expect(mutex.acquire({ wait: 250 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  const [second, third] = [mutex.acquire(), mutex.acquire()];
  await clock.advance(1_000);
  await first;
  expect([asked, ids.size], 'attempts, one each 100 ms, and claims').toEqual([11, 1]);
  await theirs.release();
  await clock.advance(200);
  const lease = await second;
  expect(await others.tryAcquire(), 'while the heir holds').toBeNull();
  await lease.release();
  await (await third).release();
  expect(await others.tryAcquire(), 'when all have released').not.toBeNull();
});
