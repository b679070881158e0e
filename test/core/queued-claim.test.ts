import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, Traits } from '../../src/core/contract/backend.ts';
import { createLocks } from '../../src/index.ts';

/** A process on an engine of these traits, some calls of which are the test's. */
function scene(traits: Partial<Traits>, calls: Partial<Backend>) {
  const clock = manualClock();
  const engine = memory({ clock });
  const locks = createLocks(around(engine, { traits: { ...engine.traits, ...traits }, ...calls }), { clock });
  return { clock, engine, locks, mutex: locks.mutex('key') };
}

/** A watch of an engine, and how many of them were opened and are open. */
function watches() {
  const count = { open: 0, opened: 0 };
  const watch = (): AsyncDisposable => {
    count.open++;
    count.opened++;
    return { [Symbol.asyncDispose]: async () => void count.open-- };
  };
  return { count, watch };
}

test('a mailbox that is not open in time for a release is closed when it is', async () => {
  const { count, watch } = watches();
  const { clock, mutex } = scene({ wakes: 'buffered' }, { watch: async () => watch() });
  const first = await mutex.acquire({ handOff: false });
  const second = mutex.acquire();
  await clock.advance(1);
  await first.release();
  await clock.advance(100);
  await (await second).release();
  await clock.advance(100);
  expect(count.opened, 'of the claim that could not go with the release').toBe(1);
  expect(count.open).toBe(0);
});

test('a watch ends with its claim, however that ends', async () => {
  const { count, watch } = watches();
  const { clock, engine, mutex } = scene({ wakes: 'buffered' }, { watch });
  const theirs = await createLocks(engine, { clock }).mutex('key').acquire();
  const refused = expect(mutex.acquire({ wait: 50 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  await clock.advance(49);
  expect(count.open, 'while it waits').toBe(1);
  await clock.advance(51);
  await refused;
  expect(count.open, 'when its wait is over').toBe(0);
  const waiting = mutex.acquire();
  await clock.advance(1);
  expect(count.open, 'of the next one').toBe(1);
  await theirs.release();
  await clock.advance(3_000);
  await (await waiting).release();
  expect(count.open, 'when it is granted').toBe(0);
});

test('an engine that says that it wakes nobody is not watched', async () => {
  const { count, watch } = watches();
  const { clock, engine, mutex } = scene({ wakes: 'never' }, { watch });
  const theirs = await createLocks(engine, { clock }).mutex('key').acquire();
  const waiting = mutex.acquire();
  await clock.advance(5_000);
  await theirs.release();
  await clock.advance(2_000);
  await (await waiting).release();
  expect(count.opened).toBe(0);
});

test('a hold that is good for no more than its delay is none, and who waits for it is told', async () => {
  const { clock, mutex } = scene(
    {},
    { attempt: async () => ({ granted: true, token: 1n, validFor: 1_000 }), release: async () => ({ freed: true }) },
  );
  let error: unknown;
  void mutex.acquire({ delay: 1_000 }).catch((refused) => {
    error = refused;
  });
  await clock.advance(1_000);
  expect(error).toMatchObject({
    code: 'LOCK_UNAVAILABLE',
    message: expect.stringContaining('a hold is good for 1000 ms, with its delay'),
  });
});

test('a hold is none at its deadline itself, and 1 ms before it is one', async () => {
  for (const [took, outcome] of [
    [987, 'held'],
    [988, 'LOCK_UNAVAILABLE'],
  ] as const) {
    const { clock, mutex } = scene(
      {},
      {
        async attempt() {
          await new Promise<void>((resolve) => clock.after(took, resolve));
          return { granted: true, token: 1n, validFor: 1_000 };
        },
        release: async () => ({ freed: true }),
      },
    );
    const tried = mutex.tryAcquire({ ttl: 60_000 }).then(
      () => 'held',
      ({ code }) => code as string,
    );
    await clock.advance(took);
    expect(await tried, `an answer after ${took} ms`).toBe(outcome);
  }
});

test('a wait that is given up at whatever turn of a promise around its grant leaves no hold', async () => {
  const { clock, engine, mutex } = scene({}, {});
  let held = 0;
  for (let turns = 0; turns < 40; turns++) {
    const giveUp = new AbortController();
    const waiting = mutex.acquire({ signal: giveUp.signal }).then(
      (lease) => lease,
      () => undefined,
    );
    for (let turn = 0; turn < turns; turn++) await undefined;
    giveUp.abort();
    const lease = await waiting;
    if (lease) held++;
    await lease?.release();
    await clock.advance(100);
    for await (const { label } of engine.inspect!('')) expect.fail(`after ${turns} turns ${label} is left`);
  }
  expect(held, 'some were given up, and some were not').toBeGreaterThan(0);
  expect(held, 'some were given up, and some were not').toBeLessThan(40);
});
