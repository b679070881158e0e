import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, Claim, Renewal } from '../../src/core/contract/backend.ts';
import { createLocks, type LockOptions } from '../../src/index.ts';
import { heard } from './heard.ts';

type Renew = (engine: Backend, claims: readonly Claim[]) => Promise<readonly Renewal[]>;

/** Locks with leases of 3 s, and each call for renewals: when it was sent, and of which keys. */
function setup(renew: Renew = (engine, claims) => engine.renew(claims)) {
  const clock = manualClock();
  const engine = memory({ clock });
  const calls: { readonly at: number; readonly keys: readonly string[] }[] = [];
  const backend = around(engine, {
    renew(claims) {
      calls.push({ at: clock.now(), keys: claims.map(({ key }) => key) });
      return renew(engine, claims) as Promise<Renewal[]>;
    },
  });
  const locks = createLocks(backend, { clock, ttl: 3_000 });
  const take = (key: string, options?: LockOptions) => locks.mutex(key).acquire(options);
  const pass = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  return { clock, engine, calls, locks, take, pass };
}
const never = () => new Promise<never>(() => {});

describe('renewals', () => {
  test('of holds that are due at about the same time share a call', async () => {
    const { clock, take, calls } = setup();
    await take('a');
    await clock.advance(100);
    await take('b');
    await clock.advance(1);
    await take('c');
    await clock.advance(1_000);
    expect(calls).toEqual([
      { at: 1_000, keys: ['a', 'b'] },
      { at: 1_101, keys: ['c'] },
    ]);
  });

  test.each([
    [500, [500]],
    [501, [500, 1]],
  ])('of %i holds are sent in calls of %j', async (count, sizes) => {
    const { clock, take, calls } = setup();
    await Promise.all(Array.from({ length: count }, (_, i) => take(`${i}`)));
    await clock.advance(1_000);
    expect(calls.map(({ keys }) => keys.length)).toEqual(sizes);
  });

  test('that may take as long, to within a factor of two, share a call that takes no longer than the shortest may', async () => {
    using events = heard('renewalFailed');
    const { clock, take, calls } = setup(never);
    await take('long', { ttl: 4_500 }); // due at 1,500 ms, and may take 1,500 ms
    await clock.advance(476);
    await take('short', { ttl: 3_072 }); // due at 1,500 ms, and may take 1,024 ms
    await clock.advance(1_024);
    expect(calls).toEqual([{ at: 1_500, keys: ['long', 'short'] }]);
    await clock.advance(1_023);
    expect(events.names).toEqual([]);
    await clock.advance(1);
    expect(events.names).toEqual(['renewalFailed', 'renewalFailed']);
  });

  test('that may take less than half as long have a call of their own', async () => {
    const { clock, take, calls } = setup();
    await take('long');
    await clock.advance(700);
    await take('short', { ttl: 900 });
    await clock.advance(300);
    expect(calls.map(({ keys }) => keys)).toEqual([['long'], ['short']]);
  });

  test.each([
    [3_000, [1_000, 2_250]],
    [60_000, [20_000, 30_000, 40_000, 50_000]],
  ])('that are not answered are given up after a third of a lease of %i ms, or 5 s, and tried again', async (ttl, at) => {
    const { clock, take, calls } = setup(never);
    await take('key', { ttl });
    await clock.advance(ttl);
    expect(calls.map((call) => call.at)).toEqual(at);
  });

  test.each([
    [10_000, 3_583],
    [30_000, 20_000],
    [1_000, 666],
  ])('leave time for a second try: one unanswered renewal loses no hold of %i ms with a notice of %i ms', async (ttl, notice) => {
    let asked = 0;
    const { clock, take, calls } = setup((engine, claims) => (++asked === 1 ? never() : engine.renew(claims)));
    const lease = await take('key', { ttl, notice });
    await clock.advance(2 * ttl);
    expect(calls.length).toBeGreaterThan(1);
    expect([lease.signal.aborted, lease.held]).toEqual([false, true]);
  });

  test('end with maxHold, and the holder is told before the last lease is over', async () => {
    const { clock, take, calls } = setup();
    const lease = await take('key', { maxHold: 2_500 });
    await clock.advance(4_667);
    expect(calls.map(({ at }) => at)).toEqual([1_000, 2_000]);
    expect(lease.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(lease.signal.reason).toMatchObject({
      code: 'LOCK_LOST',
      message: expect.stringContaining('is lost: its time is up and it is not renewed. Stop writing'),
    });
    await clock.advance(2_000);
    expect(clock.pending, 'timers in the end').toBe(0);
  });
});

describe('a loss says why', () => {
  const unknown: Renew = async (_, claims) => claims.map(() => 'unknown');
  test.each<[string, Renew | undefined, LockOptions, string, unknown]>([
    ['renewals that failed, and how', () => Promise.reject(new Error('cut.')), {}, 'deadline (cut)', 'cut.'],
    ['renewals of which nobody knows', unknown, {}, 'renewal failed until shortly before the deadline', undefined],
    ['renewals without answers', async () => [], {}, 'renewal failed until shortly before the deadline', undefined],
    ['the engine', async () => ['gone'], {}, 'the engine no longer has it', undefined],
    ['a lease that is not renewed', undefined, { renew: false }, 'its time is up and it is not renewed', undefined],
    ['no notice', undefined, { renew: false, notice: 0 }, 'its deadline passed without a renewal', undefined],
  ])('%s', async (_, renew, options, why, cause) => {
    const { clock, take } = setup(renew);
    const { signal } = await take('key', options);
    await clock.advance(3_000);
    expect(signal.reason).toMatchObject({
      code: 'LOCK_LOST',
      key: 'key',
      backend: 'memory',
      message: expect.stringContaining(`${why}. Stop writing`),
    });
    expect((signal.reason.cause as Error | undefined)?.message).toBe(cause);
    await clock.advance(2_000);
    expect(clock.pending, 'timers in the end').toBe(0);
  });

  test('also an answer that came after the deadline, when the loop of the process stood still', async () => {
    const world = setup(async (engine, claims) => {
      await world.pass(500);
      world.clock.suspend(5_000);
      world.clock.resync();
      return engine.renew(claims);
    });
    const { clock, take } = world;
    const { signal } = await take('key');
    await clock.advance(1_500);
    expect(signal.reason.message).toContain('its renewal was answered after the deadline');
  });

  test('and one at the very deadline, since whoever looked then was told that it is over', async () => {
    let deadline = 0;
    const world = setup(async (engine, claims) => {
      world.clock.suspend(deadline - world.clock.now());
      world.clock.resync();
      return engine.renew(claims);
    });
    const { clock, take } = world;
    const lease = await take('key');
    deadline = clock.now() + lease.remaining;
    const { signal } = lease;
    await clock.advance(1_000);
    expect(clock.now()).toBe(deadline);
    expect(signal.reason?.message).toContain('its renewal was answered after the deadline');
    expect(lease.held).toBe(false);
  });
});

/** Locks with a lease whose holder learns of the loss after 2,038 ms. The second renewal is sent before that, and answered at 2,283 ms. */
function answeredAfterLoss(renew: Renew) {
  let asked = 0;
  const world = setup(async (engine, claims) => {
    if (++asked === 1) return never();
    await world.pass(500);
    return renew(engine, claims);
  });
  return { ...world, taken: world.take('key', { ttl: 6_000, notice: 3_900 }) };
}

test('a loss that was told stays one, whatever a renewal that was under way is answered', async () => {
  using events = heard('renewed', 'renewalFailed', 'lost');
  const { clock, taken } = answeredAfterLoss((engine, claims) => engine.renew(claims));
  const lease = await taken;
  const until = clock.now() + lease.remaining;
  await clock.advance(6_000);
  expect(events.names).toEqual(['renewalFailed', 'lost']);
  expect(until, 'the old deadline').toBe(5_938);
  expect(lease.held).toBe(false);
});

test('a hold that the engine no longer has is over at once, also when its holder knows of the loss already', async () => {
  using events = heard('renewed', 'renewalFailed', 'lost');
  const { clock, taken } = answeredAfterLoss(async () => ['gone']);
  const lease = await taken;
  await clock.advance(2_250);
  expect([lease.signal.aborted, lease.held], 'before the answer').toEqual([true, true]);
  await clock.advance(50);
  expect(lease.held, 'after it').toBe(false);
  expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_LOST' }));
  await clock.advance(6_000);
  expect(events.names).toEqual(['renewalFailed', 'lost']);
});

test('a hold that was released is not told of a renewal that was under way', async () => {
  using events = heard('renewed', 'renewalFailed', 'lost', 'released');
  const world = setup(async (engine, claims) => {
    await world.pass(500);
    return engine.renew(claims);
  });
  const { clock, take } = world;
  const lease = await take('key');
  await clock.advance(1_100);
  expect(await lease.release()).toBe(true);
  await clock.advance(5_000);
  expect(events.names).toEqual(['released']);
  expect(clock.pending, 'timers in the end').toBe(0);
});

test.each<[string, LockOptions]>([
  ['from the notice to the deadline', { renew: false, notice: 1_900 }],
  ['from the end of maxHold to the notice', { maxHold: 1 }],
])('%s nothing is looked at again and again', async (_, options) => {
  const { clock, take } = setup();
  await take('key', options);
  const { after } = clock;
  let timers = 0;
  clock.after = (...args) => {
    timers++;
    return after(...args);
  };
  await clock.advance(4_000);
  expect(timers, 'armed, where one lasts a second').toBeLessThan(10);
});

test('a second after the last hold is gone no timer is left, however long it would have lasted', async () => {
  const { clock, take } = setup();
  const lease = await take('key', { ttl: 600_000 });
  await lease.release();
  await clock.advance(1_000);
  expect(clock.pending).toBe(0);
});

test('what is closed leaves no timer, whatever was held', async () => {
  const { clock, locks, take } = setup();
  await take('key');
  await locks.close();
  expect(clock.pending).toBe(0);
});

test('who looks at a lease that is over sets no timer', async () => {
  const { clock, take } = setup();
  const lease = await take('key', { renew: false });
  await clock.advance(5_000);
  expect(clock.pending, 'timers in the end').toBe(0);
  expect([lease.held, lease.remaining, clock.pending]).toEqual([false, 0, 0]);
});

test('a hold whose timer was set by fake timers, which never fires, is renewed once somebody looks at its lease', async () => {
  const { clock, take, calls } = setup();
  const { after } = clock;
  clock.after = () => () => {};
  const lease = await take('key');
  clock.after = after;
  await clock.advance(2_100);
  expect(calls, 'before').toEqual([]);
  expect(lease.held).toBe(true);
  await clock.advance(1_000);
  expect(calls.length, 'after').toBeGreaterThan(0);
  expect(lease.held, 'beyond its first lease').toBe(true);
});

test('a renewal that gives no number as the time of a lease ends no renewal of other holds', async () => {
  const { clock, calls, take } = setup(async (engine, claims) => {
    const answers = await engine.renew(claims);
    return answers.map((answer, i) => (claims[i]!.key === 'odd' ? { validFor: Number.NaN } : answer));
  });
  const [odd, good] = [await take('odd'), await take('good')];
  await clock.advance(12_000);
  expect([odd.held, good.held]).toEqual([false, true]);
  expect(odd.signal.aborted, 'its holder is told').toBe(true);
  expect(calls.length).toBeGreaterThan(4);
});
