import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { QueueEntry } from '../../src/core/contract/backend.ts';
import { createLocks, type LockOptions } from '../../src/index.ts';

test('who waits here while the engine is away is told with the one that asked it, and who came later in its own time', async () => {
  const clock = manualClock();
  const backend = around(memory({ clock }), { attempt: () => Promise.reject(new Error('cut')) });
  const locks = createLocks(backend, { clock });
  const told: [string, number, boolean][] = [];
  const wait = (name: string) =>
    void locks
      .mutex('key')
      .acquire()
      .catch(({ code, message }) => {
        expect(code).toBe('LOCK_UNAVAILABLE');
        told.push([name, Math.round(clock.now() / 100) / 10, message.includes('Another caller in this process asked')]);
      });
  for (const name of ['asks', 'waits here', 'and here']) wait(name);
  await clock.advance(5_000);
  wait('came later');
  await clock.advance(20_000);
  expect(told).toEqual([
    ['asks', 10, false],
    ['waits here', 10, true],
    ['and here', 10, true],
    ['came later', 15, false],
  ]);
  expect(clock.pending).toBe(0);
});

/** The waiters of one process for a key that another has, as the engine lists them. */
async function listed(inside: boolean, options: LockOptions) {
  const clock = manualClock();
  const engine = memory({ clock });
  const theirs = await createLocks(engine, { clock }).mutex('key').acquire();
  const locks = createLocks(engine, { clock });
  const controller = new AbortController();
  const ask = () => locks.mutex('key').acquire({ ...options, signal: controller.signal });
  const all = ['a', 'b'].map((key) => (inside ? locks.mutex(key).run(ask) : ask()).catch(() => {}));
  await clock.advance(100);
  const waiters = async () => {
    const seen: QueueEntry[] = [];
    for await (const standing of locks.inspect('key')) if (!standing.held) seen.push(standing);
    return seen;
  };
  const seen = await waiters();
  controller.abort();
  await clock.advance(100);
  await Promise.all(all);
  expect(await waiters(), 'who gave up').toEqual([]);
  await theirs.release();
  return seen;
}

test.each<[string, boolean, LockOptions, number]>([
  ['whoever looks for deadlocks inside of a hold stands there for itself', true, { detect: true }, 2],
  ['one stands there for all where nobody looks', true, {}, 1],
  ['one stands there for all where nobody is inside of anything', false, { detect: true }, 1],
])('in the line of the engine %s', async (_, inside, options, count) => {
  const seen = await listed(inside, options);
  expect(seen).toHaveLength(count);
  for (const { origin } of seen) {
    expect(origin!.inside).toHaveLength(inside ? 1 : 0);
    expect(origin!.detects !== undefined, 'says that it looks').toBe(count === 2);
  }
});

test.each<[string, boolean, boolean]>([
  ['inside of the same hold', true, true],
  ['inside of another', false, false],
])('who gives up leaves its place in line to one %s', async (_, same, inherits) => {
  const clock = manualClock();
  const engine = memory({ clock });
  await createLocks(engine, { clock }).mutex('key').acquire();
  const locks = createLocks(engine, { clock });
  const token = async () => {
    for await (const standing of locks.inspect('key')) if (!standing.held) return standing.token;
    return undefined;
  };
  const ask = (wait: number) =>
    locks
      .mutex('key')
      .acquire({ wait })
      .catch(() => {});
  void locks.mutex('a').run(() => Promise.all(same ? [ask(100), ask(5_000)] : [ask(100)]));
  if (!same) void locks.mutex('b').run(() => ask(5_000));
  await clock.advance(50);
  const before = await token();
  await clock.advance(100);
  expect((await token()) === before).toBe(inherits);
});
