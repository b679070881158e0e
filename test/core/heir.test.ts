/** A caller that gives up leaves its claim in the line of the engine to the next equal caller of its process. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Locks } from '../../src/index.ts';

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

test('a caller asks as often as its own options say, after another one of its process with longer pauses gave up', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const backend = around(engine, { traits: { ...engine.traits, wakes: 'never', fair: false } });
  const mutex = createLocks(backend, { clock }).mutex('key');
  const theirs = await createLocks(engine, { clock }).mutex('key').acquire();
  const spin = { pause: 60_000, bound: 60_000, jitter: 0 };
  const patient = expect(mutex.acquire({ wait: 250, spin })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  const next = mutex.acquire();
  await clock.advance(1_000);
  await patient;
  await theirs.release();
  await clock.advance(2_000);
  let held = false;
  void next.then(() => {
    held = true;
  });
  await clock.advance(0);
  expect(held, 'it holds 2 s after the key is free').toBe(true);
});

/** Two callers of one process wait behind another process, and the first of them gives up. @returns the label that the engine lists for the second */
async function labelOfSecond(
  waits: (locks: Locks, label: string, signal: AbortSignal) => Promise<unknown>,
): Promise<string> {
  const clock = manualClock();
  const engine = memory({ clock });
  const [locks, others] = [createLocks(engine, { clock }), createLocks(engine, { clock })];
  const theirs = await others.mutex('key').acquire();
  const [stop, end] = [new AbortController(), new AbortController()];
  const first = waits(locks, 'first', stop.signal).catch(() => {});
  await clock.advance(10);
  const second = waits(locks, 'second', end.signal);
  await clock.advance(10);
  stop.abort();
  await first;
  await theirs.release();
  await clock.advance(1_000);
  const who = await others.leader('key').current();
  end.abort();
  await clock.advance(100);
  await second;
  return who!.label;
}

const untilAbort = ({ signal }: { readonly signal: AbortSignal }): Promise<unknown> => once(signal, 'abort');

test('a candidate leads under its own label, also when another one of its process stopped waiting before it', async () => {
  const label = await labelOfSecond((locks, label, signal) =>
    locks.leader('key', { label }).run(untilAbort, { signal }),
  );
  expect(label, 'the label of the leader').toBe('second');
});

test('a caller of a lock that passes from hand to hand takes over a claim whatever its label, and keeps the place', async () => {
  const label = await labelOfSecond(async (locks, label, signal) => {
    await using _ = await locks.mutex('key', { label }).acquire({ signal });
    await untilAbort({ signal });
  });
  expect(label, 'the label of the claim that was taken over').toBe('first');
});
