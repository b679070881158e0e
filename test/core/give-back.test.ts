/** How a hold goes back to the engine, and what is told of it. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks } from '../../src/index.ts';
import { heard } from './heard.ts';

test.each<[string, (locks: ReturnType<typeof createLocks>) => { acquire(): Promise<unknown> }, boolean]>([
  ['with the token of an exclusive hold', (locks) => locks.mutex('key'), true],
  ['without a token of one that others may share', (locks) => locks.rwLock('key').read, false],
])('a release without an answer is told of %s', async (_, lockOf, hasToken) => {
  using events = heard('acquired', 'releaseFailed');
  const clock = manualClock();
  const backend = around(memory({ clock }), { release: () => Promise.reject(new Error('cut')) });
  const locks = createLocks(backend, { clock });
  const lease = (await lockOf(locks).acquire()) as { release(): Promise<boolean> };
  expect(await lease.release()).toBe(false);
  const [acquired, failed] = events.events as { token?: bigint }[];
  expect(events.names).toEqual(['acquired', 'releaseFailed']);
  expect(failed).toMatchObject({ key: 'key', error: { message: 'cut' } });
  expect([typeof failed!.token, failed!.token]).toEqual([hasToken ? 'bigint' : 'undefined', acquired!.token]);
});

test('where a session carries the hold, it is given back when minHold is over, and that is no failure', async () => {
  using events = heard('releaseFailed');
  const clock = manualClock();
  const engine = memory({ clock });
  const released: number[] = [];
  const backend: Backend = around(engine, {
    traits: { ...engine.traits, expires: false, lifetime: 'session' },
    release(handle, next) {
      released.push(clock.now());
      return engine.release(handle, next);
    },
  });
  const lease = await createLocks(backend, { clock }).mutex('key').acquire({ minHold: 1_000 });
  await clock.advance(300);
  const freed = lease.release();
  await clock.advance(2_000);
  expect([await freed, released, events.names]).toEqual([true, [1_000], []]);
});

test('a hold is given back with a clock that cannot look again, too', async () => {
  const { lookAgain: _, ...clock } = manualClock();
  const lease = await createLocks(memory({ clock }), { clock }).mutex('key').acquire();
  expect(await lease.release()).toBe(true);
});
