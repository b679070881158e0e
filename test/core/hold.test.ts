import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { channels } from '../../src/core/contract/events.ts';
import type { HeldLease } from '../../src/core/queue/held-lease.ts';
import { createLocks, type Lease, type LockEvent, type LockOptions } from '../../src/index.ts';
import { heard } from './heard.ts';

/** An engine that says when it ends a hold, as one of sessions does. */
function setup(calls: Partial<Backend> = {}, tokenCount?: number) {
  const clock = manualClock();
  const engine = memory({ clock });
  const controller = new AbortController();
  let attempts = 0;
  const backend = around(engine, {
    async attempt(claim) {
      attempts++;
      const answer = await engine.attempt(claim);
      return answer.granted
        ? { ...answer, lost: controller.signal, ...(tokenCount !== undefined && { tokenCount }) }
        : answer;
    },
    ...calls,
  });
  const locks = createLocks(backend, { clock, ttl: 3_000 });
  const take = (options?: LockOptions) => locks.mutex('key').acquire(options);
  const listeners = () => getEventListeners(controller.signal, 'abort').length;
  return { clock, locks, take, controller, listeners, attempts: () => attempts };
}

test('a hold is over at once when the engine says that it ended it, and its holder is told why', async () => {
  using events = heard('lost', 'released');
  const { clock, take, controller, listeners } = setup();
  await clock.advance(700);
  const lease = await take();
  await clock.advance(500);
  controller.abort();
  expect(lease.held).toBe(false);
  expect(lease.signal.reason.message).toContain('the engine ended it');
  expect(await lease.release()).toBe(false);
  await clock.advance(0); // it looks for a note first
  expect(events.names).toEqual(['lost']);
  expect(events.events[0]).toMatchObject({ duration: 500, token: lease.token, error: lease.signal.reason });
  expect(listeners()).toBe(0);
});

test('a grant that the engine had ended before its answer came is given back, and asked for in another name', async () => {
  const ids: string[] = [];
  const released: string[] = [];
  const clock = manualClock();
  const engine = memory({ clock });
  const backend = around(engine, {
    async attempt(claim) {
      const answer = await engine.attempt(claim);
      return answer.granted && ids.push(claim.id) === 1 ? { ...answer, lost: AbortSignal.abort() } : answer;
    },
    release(handle) {
      released.push(handle.id);
      return engine.release(handle);
    },
  });
  const waiting = createLocks(backend, { clock }).mutex('key').acquire();
  await clock.advance(5_000);
  expect((await waiting).held).toBe(true);
  expect(released).toEqual([ids[0]]);
  expect(ids[1]).not.toBe(ids[0]);
});

test('nobody listens for the end of a hold that was given back, and whoever it passed on to does', async () => {
  using events = heard('lost', 'released', 'handedOver');
  const { clock, take, controller, listeners } = setup();
  await clock.advance(700);
  const first = await take();
  const waiting = take();
  expect(listeners()).toBe(1);
  await first.release();
  const second = await waiting;
  expect(listeners(), 'passed on').toBe(1);
  await clock.advance(100);
  await second.release();
  await clock.advance(0);
  expect(listeners(), 'given back').toBe(0);
  controller.abort();
  expect(events.names).toEqual(['released', 'handedOver', 'released']);
  expect((events.events as LockEvent[]).map(({ duration }) => duration)).toEqual([0, 0, 100]);
});

test('a hold that ends by itself leaves no listener at the engine', async () => {
  const { clock, take, listeners } = setup();
  await take({ renew: false });
  await clock.advance(3_000);
  expect(listeners()).toBe(0);
});

test('a hold that is over when its grant has been told leaves no listener at the engine', async () => {
  const { clock, locks, take, listeners } = setup();
  const close = (): void => void locks.close();
  channels.acquired.subscribe(close);
  const lease = await take();
  channels.acquired.unsubscribe(close);
  await clock.advance(10);
  expect([lease.held, listeners()]).toEqual([false, 0]);
});

test('a hold passes on no more often than the engine has reserved tokens for, though more were asked for', async () => {
  const { clock, take, attempts } = setup({}, 2);
  const leases = [await take()];
  const waiting = Array.from({ length: 3 }, () => take());
  for (const next of waiting) {
    await leases.at(-1)!.release();
    await clock.advance(1);
    leases.push(await next);
  }
  expect(leases.map(({ token }, i) => i > 0 && token === leases[i - 1]!.token + 1n)).toEqual([
    false,
    true,
    false,
    true,
  ]);
  expect(attempts()).toBe(2);
});

test('a renewal that failed tells what is left, and readers have no token', async () => {
  using events = heard('renewalFailed', 'acquired');
  const { clock, locks } = setup({ renew: () => Promise.reject(new Error('cut')) });
  await locks.rwLock('key').read.acquire();
  await clock.advance(1_000);
  const [acquired, failed] = events.events;
  expect(failed).toMatchObject({ margin: 1_968, error: new Error('cut') });
  for (const event of [acquired, failed]) expect(event).not.toHaveProperty('token');
});

test.each<[('lost' | 'released' | 'ended')[], string[], boolean]>([
  [['lost', 'lost'], ['lost'], false],
  [['lost', 'released', 'lost', 'ended'], ['lost', 'released'], true],
  [['released', 'lost', 'ended'], ['released'], true],
  [['ended', 'lost'], ['lost'], true],
  [['lost', 'ended'], ['lost'], true],
])('a hold that is %j tells %j, and then it is over: %j', async (states, tells, over) => {
  using events = heard('lost', 'released');
  const { hold } = (await setup().take()) as Lease & HeldLease;
  expect(hold.over).toBe(false);
  const acts = {
    lost: () => hold.lose('a test'),
    released: () => hold.markReleased(),
    ended: () => void hold.end('a test'),
  };
  for (const state of states) acts[state]();
  expect([events.names, hold.over]).toEqual([tells, over]);
});

test.each<[string, Partial<Backend>, number, boolean]>([
  ['keeps no notes, so that there is no reason to look for', { hints: undefined as never }, 500, true],
  ['ends it when its notice is due: there is no time to look for a reason', {}, 2_668, true],
  ['ends it 1 ms before its notice: there is time to look for a reason', {}, 2_667, false],
])('a hold may be told of its loss in the same turn by an engine that %s', async (_, calls, after, told) => {
  const { clock, take, controller } = setup(calls);
  const { signal } = await take();
  clock.suspend(after);
  clock.resync(); // no timer has fired
  controller.abort();
  expect(signal.aborted).toBe(told);
  await clock.advance(1);
  expect(signal.aborted, 'at the latest').toBe(true);
});

test('a grant that the engine had ended before its answer came is asked for again after a pause', async () => {
  const asked: number[] = [];
  const clock = manualClock();
  const engine = memory({ clock });
  const backend = around(engine, {
    async attempt(claim) {
      const answer = await engine.attempt(claim);
      return answer.granted && asked.push(clock.now()) < 4 ? { ...answer, lost: AbortSignal.abort() } : answer;
    },
    watch: () => ({ [Symbol.asyncDispose]: async () => {} }),
  });
  const waiting = createLocks(backend, { clock }).mutex('key').acquire();
  await clock.advance(5_000);
  expect((await waiting).held).toBe(true);
  for (const [i, at] of asked.entries()) if (i > 0) expect(at).toBeGreaterThan(asked[i - 1]!);
});

test('what an engine gives as a signal, and is none, changes nothing: the next caller here waits for this hold', async () => {
  let asked = 0;
  const clock = manualClock();
  const engine = memory({ clock });
  const backend = around(engine, {
    async attempt(claim) {
      asked++;
      return { ...(await engine.attempt(claim)), lost: {} as never };
    },
  });
  const mutex = createLocks(backend, { clock }).mutex('key');
  const lease = await mutex.acquire();
  const waiting = mutex.acquire();
  await clock.advance(1);
  expect(asked).toBe(1);
  await lease.release();
  expect((await waiting).token).toBe(lease.token + 1n);
});
