/** What the watchdog tells the stand-in that renews holds while this thread cannot run, and what it believes of it. */
import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Claim, Handle } from '../../src/core/contract/backend.ts';
import type { Cover, Schedule, StandIn } from '../../src/core/queue/hold-timing.ts';
import { createLocks, type LockOptions } from '../../src/index.ts';
import { runtimeOf } from '../../src/locks.ts';
import { heard } from './heard.ts';

class Covered implements Cover {
  readonly handle: Handle;
  readonly schedule: Schedule;
  #confirmed: number | undefined;
  readonly asking = false;
  ended = false;

  constructor(handle: Handle, schedule: Schedule) {
    this.handle = handle;
    this.schedule = schedule;
  }

  get confirmed(): number | undefined {
    return this.ended ? undefined : this.#confirmed;
  }

  set confirmed(sent: number) {
    this.#confirmed = sent;
  }

  follow(): void {}

  end(): void {
    this.ended = true;
  }
}

/** Locks with leases of 3 s, and the covers that their stand-in has begun. @param cut the watchdog itself comes to no engine */
function setup(cut = true) {
  const clock = manualClock();
  const engine = memory({ clock });
  const covers: Covered[] = [];
  const standIn: StandIn = {
    cover(handle, schedule) {
      const cover = new Covered(handle, schedule);
      covers.push(cover);
      return cover;
    },
  };
  const backend = cut ? around(engine, { renew: () => Promise.reject(new Error('cut')) }) : engine;
  const locks = createLocks(backend, { clock, ttl: 3_000 });
  runtimeOf(locks, 'a test').watchdog.standIn = standIn;
  const take = (options?: LockOptions) => locks.mutex('key').acquire(options);
  return { clock, engine, locks, take, covers };
}

describe('a stand-in', () => {
  test('covers a hold that is renewed from its grant on, and none that is not', async () => {
    const { clock, locks, take, covers } = setup();
    await clock.advance(100);
    await locks.mutex('not renewed').acquire({ renew: false });
    expect(covers).toEqual([]);
    await take();
    expect(covers.map(({ handle }) => handle.key)).toEqual(['key']);
    expect(covers[0]!.schedule).toMatchObject({ ttl: 3_000, sent: 100, interval: 1_000 });
  });

  test('no longer covers a hold that was given back', async () => {
    const { take, covers } = setup();
    const lease = await take();
    expect(covers[0]!.ended, 'while it is held').toBe(false);
    await lease.release();
    expect(covers[0]!.ended).toBe(true);
  });

  test('no longer covers a hold whose holder was told to stop, though its lease is not over', async () => {
    const { clock, take, covers } = setup();
    const lease = await take();
    await clock.advance(2_667);
    expect([lease.signal.aborted, covers[0]!.ended], 'before the notice').toEqual([false, false]);
    await clock.advance(1);
    expect([lease.signal.aborted, covers[0]!.ended]).toEqual([true, true]);
    expect(lease.held, 'until the deadline').toBe(true);
  });

  test('no longer covers a hold that the engine has no more', async () => {
    const { clock, engine, take, covers } = setup(false);
    const lease = await take();
    await clock.advance(1_000);
    await engine.evict!('key', lease.token);
    expect(covers[0]!.ended, 'before anybody asked').toBe(false);
    await clock.advance(1_000);
    expect([lease.held, covers[0]!.ended]).toEqual([false, true]);
  });
});

describe('who looks 6 s after a grant, of which this thread stood still for all,', () => {
  /** What is said of a hold that the stand-in has renewed until then, at last by a request of this time. */
  async function looked(confirmed: number) {
    using events = heard('lost');
    const { clock, take, covers } = setup();
    const lease = await take();
    covers[0]!.confirmed = confirmed;
    clock.suspend(6_000);
    const said = [lease.held, lease.remaining];
    await clock.advance(1);
    return { said, held: lease.held, told: events.names, reason: lease.signal.reason as unknown };
  }

  test('finds the hold that the stand-in has renewed, and it goes on', async () => {
    expect(await looked(5_000)).toEqual({ said: [true, 1_968], held: true, told: [], reason: undefined });
  });

  test('finds it lost where the stand-in could not renew it to the end, and is told', async () => {
    const loss = expect.objectContaining({ code: 'LOCK_LOST' });
    expect(await looked(1_000)).toEqual({ said: [false, 0], held: false, told: ['lost'], reason: loss });
  });
});

test('what the stand-in confirms late does not make a hold last longer than the engine, once the hold is not renewed any more', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  let look = (): void => {};
  let isCut = true;
  const backend = around(engine, {
    watchHold(_, wake) {
      look = wake;
      return { [Symbol.asyncDispose]: async () => {} };
    },
    renew: (claims) => (isCut ? Promise.reject(new Error('cut')) : engine.renew(claims)),
  });
  const locks = createLocks(backend, { clock, ttl: 30_000, maxHold: 15_000 });
  const covers: Covered[] = [];
  runtimeOf(locks, 'a test').watchdog.standIn = {
    cover(handle, schedule) {
      covers.push(new Covered(handle, schedule));
      return covers[0];
    },
  };
  const lease = await locks.mutex('key').acquire();
  const cover = covers[0]!;
  await clock.advance(14_900);
  const sent = clock.now();
  await engine.renew([{ ...cover.handle, ttl: 30_000 } as Claim]);
  await clock.advance(200);
  isCut = false;
  look();
  await clock.advance(200);
  if (!cover.ended) cover.confirmed = sent;
  for await (const { remaining } of engine.inspect!('key')) {
    expect(remaining, 'the lease on the engine, which the holder counts on').toBeGreaterThanOrEqual(lease.remaining);
  }
});

test('the result of a memo whose function blocked this thread is kept, where the stand-in has renewed the hold until then', async () => {
  const { clock, engine, locks, covers } = setup();
  let runs = 0;
  const run = async () => {
    runs++;
    for (let at = 1_000; at < 6_000; at += 1_000) {
      clock.suspend(1_000);
      covers[0]!.confirmed = clock.resync();
      await engine.renew([{ ...covers[0]!.handle, ttl: 3_000 } as Claim]);
    }
    return 'result';
  };
  await locks.memo('key', { keep: '1h' }).run(run);
  expect(await locks.memo('key', { keep: '1h' }).run(run)).toMatchObject({ value: 'result', ran: false });
  expect(runs).toBe(1);
});
