import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { lose, manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, Claim, Renewal } from '../../src/core/contract/backend.ts';
import { heldLease } from '../../src/core/queue/held-lease.ts';
import { createLocks, type Lease, LockError, type Mutex } from '../../src/index.ts';
import { heard } from './heard.ts';

/** One process, and every renewal it sends; `renew` may answer otherwise than the engine would. */
function scene(renew?: (engine: Backend, claims: readonly Claim[]) => ReturnType<Backend['renew']>) {
  const clock = manualClock(1);
  const renewals: (readonly Claim[])[] = [];
  const engine = memory({ clock });
  const backend = around(engine, {
    renew(claims) {
      renewals.push(claims);
      return renew ? renew(engine, claims) : engine.renew(claims);
    },
  });
  const locks = createLocks(backend, { clock, ttl: 900 });
  const pass = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  return { clock, engine, locks, renewals, pass };
}

/** The first renewal reaches the engine `ms` late. */
function slowAtFirst(ms: number) {
  let slow = ms;
  const world: ReturnType<typeof scene> = scene(async (engine, claims) => {
    const wait = slow;
    slow = 0;
    if (wait > 0) await world.pass(wait);
    return engine.renew(claims);
  });
  return world;
}

test('a lease given back after its deadline was lost, and is told so once', async () => {
  using events = heard('lost', 'released');
  const { clock, locks } = scene(() => new Promise(() => {}));
  const lease = await locks.mutex('key').acquire({ notice: 0 });
  await clock.advance(888);
  expect(lease.held).toBe(true);
  // A stall: its release runs before the watchdog's timer.
  clock.suspend(5);
  clock.resync();
  expect(lease.held).toBe(false);
  const freed = lease.release();
  await clock.advance(2_000);
  expect(await freed).toBe(false);
  expect(lease.signal.aborted).toBe(true);
  expect(events.names).toEqual(['lost']);
});

test.each<[string, (lease: Lease) => boolean]>([
  ['held', (lease) => lease.held],
  ['remaining', (lease) => lease.remaining > 0],
])('after the machine has slept past the deadline, %s says that the lease is over', async (_, isHeld) => {
  const { clock, locks } = scene();
  const lease = await locks.mutex('key').acquire();
  expect(isHeld(lease)).toBe(true);
  clock.suspend(1_000); // no timer has run yet
  expect(isHeld(lease)).toBe(false);
  expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_LOST' }));
});

test('a machine that slept before it asked has all of its lease', async () => {
  const { clock, locks } = scene();
  clock.suspend(60_000);
  const lease = await locks.mutex('key').acquire();
  lease.assertHeld();
  expect(lease.remaining).toBeGreaterThan(800);
});

test('a lease is over at its deadline, and not a moment later', async () => {
  const { clock, locks } = scene();
  const lease = await locks.mutex('key').acquire();
  const { remaining } = lease;
  clock.suspend(remaining - 0.5);
  expect([lease.held, lease.remaining]).toEqual([true, 0.5]);
  clock.suspend(0.5);
  expect([lease.held, lease.remaining]).toEqual([false, 0]);
});

test('a renewal that was given up and overtakes an extension never ends the lease before its deadline', async () => {
  let late: (() => Promise<unknown>) | undefined;
  const { clock, engine, locks } = scene((engine, claims) => {
    if (late) return engine.renew(claims);
    late = () => engine.renew(claims); // on its way on another connection
    return Promise.reject(new Error('no answer'));
  });
  const lease = await locks.mutex('key').acquire();
  await clock.advance(305);
  await lease.extend(20_000);
  await late?.();
  for await (const { remaining } of engine.inspect!('key')) {
    expect(remaining, 'on the engine').toBeGreaterThanOrEqual(lease.remaining);
  }
  await clock.advance(30_000);
  expect(lease.held, 'renewals keep it').toBe(true);
  await lease.release();
});

test('an extension that an earlier one may still shorten is not promised where nothing renews it', async () => {
  let unheard = true;
  const { locks } = scene((engine, claims) => {
    if (!unheard) return engine.renew(claims);
    unheard = false;
    return Promise.reject(new Error('no answer'));
  });
  const lease = await locks.mutex('key').acquire({ renew: false });
  await expect(lease.extend(2_000)).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await expect(lease.extend(20_000)).rejects.toThrow(/may still arrive, and shorten it/);
  expect(lease.remaining).toBeGreaterThan(1_900);
  expect(lease.remaining).toBeLessThanOrEqual(2_000);
  await lease.extend(2_000);
  await lease.release();
});

test('a renewal under way when a lease is extended does not make it short again', async () => {
  const { clock, engine, locks } = slowAtFirst(250);
  const lease = await locks.mutex('key').acquire();
  await clock.advance(305); // the first renewal is on its way
  const extending = lease.extend(20_000);
  await clock.advance(260);
  await extending;
  const remaining: number[] = [];
  for await (const standing of engine.inspect!('key')) remaining.push(standing.remaining);
  expect(lease.remaining).toBeGreaterThan(19_000);
  expect(remaining[0], 'on the engine').toBeGreaterThanOrEqual(lease.remaining);
  await lease.release();
});

test('renewals after an extension are no shorter than it, even while it is not answered', async () => {
  const { clock, locks, renewals } = scene((engine, claims) =>
    claims[0]!.ttl > 900 && renewals.length === 1 ? new Promise(() => {}) : engine.renew(claims),
  );
  const lease = await locks.mutex('key').acquire();
  const unknown = expect(lease.extend(20_000)).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(6_000);
  await unknown;
  expect(renewals.length).toBeGreaterThan(1);
  expect(renewals.flat().map(({ ttl }) => ttl)).not.toContain(900);
  expect(lease.held).toBe(true);
  await lease.release();
});

test('an extension that the engine leaves open is not promised, and the old deadline stands', async () => {
  const { locks } = scene(async () => ['unknown']);
  const lease = await locks.mutex('key').acquire({ renew: false });
  const before = lease.remaining;
  const message = expect.stringMatching(/was not confirmed/);
  await expect(lease.extend(20_000)).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE', message });
  expect(lease.remaining).toBe(before);
  await lease.release();
});

test('an extension that the engine refuses gives its reason, and the lease is renewed as before', async () => {
  const kept = new LockError('LOCK_INVALID', 'a lease lasts no longer here');
  const { clock, locks, renewals } = scene(async (engine, claims) => {
    if (claims[0]!.ttl <= 900) return engine.renew(claims);
    const [answer] = await engine.renew(claims.map((claim) => ({ ...claim, ttl: 900 })));
    return [{ ...(answer as { validFor: number }), kept }];
  });
  const lease = await locks.mutex('key').acquire();
  await clock.advance(100);
  await expect(lease.extend(20_000)).rejects.toBe(kept);
  expect(lease.remaining, 'what the engine confirmed counts').toBeCloseTo(889);
  await clock.advance(2_000);
  expect(lease.held).toBe(true);
  expect(renewals.slice(1).flatMap((claims) => claims.map(({ ttl }) => ttl))).not.toContain(20_000);
  await lease.release();
});

test('what was told lost is not extended', async () => {
  const { clock, locks, renewals } = scene();
  const lease = await locks.mutex('key').acquire({ renew: false, notice: 400 });
  await clock.advance(600);
  expect(lease.signal.aborted).toBe(true);
  expect(lease.held, 'time to stop').toBe(true);
  await expect(lease.extend(5_000)).rejects.toMatchObject({ code: 'LOCK_LOST' });
  expect(renewals).toEqual([]);
  await lease.release();
});

test('what is told lost while an extension is under way is not extended', async () => {
  const world = scene(async (engine, claims) => {
    await world.pass(200);
    return engine.renew(claims);
  });
  const { clock, locks } = world;
  const lease = await locks.mutex('key').acquire({ renew: false, notice: 200 });
  await clock.advance(600);
  const lost = expect(lease.extend(5_000)).rejects.toMatchObject({ code: 'LOCK_LOST' });
  await clock.advance(220);
  await lost;
  expect(lease.signal.aborted).toBe(true);
  expect(lease.remaining, 'the old deadline stands').toBeLessThan(100);
  await lease.release();
});

test('an extension whose lease was released before its answer is still in doubt for the leases around it', async () => {
  const asked: PromiseWithResolvers<void>[] = [];
  const late: (readonly Claim[])[] = [];
  const { clock, engine, locks } = scene(async (engine, claims) => {
    if (asked.length > 0) return engine.renew(claims);
    asked.push(Promise.withResolvers());
    late.push(claims);
    await asked[0]!.promise;
    return ['unknown'];
  });
  const lock = locks.mutex('key');
  await lock.run(
    async (outer) => {
      const inner = await lock.acquire();
      const extended = expect(inner.extend(2_000)).rejects.toMatchObject({ code: 'LOCK_NOT_HELD' });
      await clock.advance(1);
      await inner.release();
      asked[0]!.resolve();
      await extended;
      await outer.extend(10_000).catch((error) => expect(error).toMatchObject({ code: 'LOCK_UNAVAILABLE' }));
      await engine.renew(late[0]!);
      await clock.advance(3_000);
      const next = await createLocks(engine, { clock }).mutex('key').tryAcquire();
      expect(outer.held && next !== null, 'two hold').toBe(false);
    },
    { renew: false },
  );
});

test('of two extensions at once, the shorter one does not arrive last', async () => {
  const { clock, engine, locks } = slowAtFirst(100);
  const lease = await locks.mutex('key').acquire({ renew: false });
  const both = Promise.all([lease.extend(2_000), lease.extend(20_000)]);
  await clock.advance(200);
  await both;
  expect(lease.remaining).toBeGreaterThan(19_000);
  for await (const { remaining } of engine.inspect!('key')) {
    expect(remaining, 'on the engine').toBeGreaterThanOrEqual(lease.remaining);
  }
  await lease.release();
});

test('an extension waits for each renewal under way, also for one that an earlier extension was answered beside', async () => {
  const asked: PromiseWithResolvers<void>[] = [];
  const { clock, engine, locks } = scene(async (engine, claims) => {
    const gate = Promise.withResolvers<void>();
    asked.push(gate);
    await gate.promise;
    return engine.renew(claims);
  });
  const lease = await locks.mutex('key').acquire();
  const extending = [lease.extend(900), lease.extend(20_000)];
  await clock.advance(305);
  asked[0]!.resolve();
  await extending[0];
  expect(lease.held).toBe(true); // each look attends to renewals that are due
  await clock.advance(10);
  expect(asked.length, 'the first extension, and a renewal that is not answered').toBe(2);
  asked[1]!.resolve();
  await clock.advance(1);
  // The last one is served first, as over another connection.
  for (const gate of asked.toReversed()) {
    gate.resolve();
    await clock.advance(1);
  }
  await extending[1];
  expect(lease.remaining).toBeGreaterThan(19_000);
  for await (const { remaining } of engine.inspect!('key')) {
    expect(remaining, 'on the engine').toBeGreaterThanOrEqual(lease.remaining);
  }
  await lease.release();
});

test('an extension without an answer does not shorten the notice', async () => {
  const { clock, locks } = scene(() => Promise.reject(new Error('no connection')));
  const lease = await locks.mutex('key').acquire({ notice: 200 });
  await expect(lease.extend(20_000)).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(700);
  expect(lease.remaining, 'time to stop').toBeGreaterThan(0);
  expect(lease.signal.aborted).toBe(true);
  await lease.release();
});

test('one call renews many, an error in it stops none of them, and each is tried again', async () => {
  let calls = 0;
  const { clock, locks, renewals } = scene(async (engine, claims) => {
    calls++;
    if (calls === 1) throw new Error('no connection');
    const answers = await engine.renew(claims);
    return calls === 2 ? answers.map((answer, i) => (i === 0 ? 'unknown' : answer)) : answers;
  });
  const leases = await Promise.all(['a', 'b', 'c'].map((key) => locks.mutex(key).acquire()));
  await clock.advance(5_000);
  expect(renewals[0]).toHaveLength(3);
  expect(leases.map(({ held }) => held)).toEqual([true, true, true]);
  await locks.close();
});

test('more holds than fit in one call are renewed by several', async () => {
  const { clock, locks, renewals } = scene();
  const leases = await Promise.all(Array.from({ length: 1_100 }, (_, i) => locks.mutex(`k${i}`).acquire()));
  await clock.advance(301);
  expect(renewals.map((claims) => claims.length)).toEqual([500, 500, 100]);
  expect(leases.every(({ held }) => held)).toBe(true);
  await locks.close();
});

test('a renewal answered after the deadline revives nothing', async () => {
  const world = scene(async (engine, claims) => {
    const answers = await engine.renew(claims);
    await world.pass(1_200);
    return answers;
  });
  const lease = await world.locks.mutex('key').acquire();
  await world.clock.advance(895);
  expect(lease.held).toBe(false);
  await world.clock.advance(2_000);
  expect(lease.held).toBe(false);
  expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_LOST' }));
});

test('a lease can be logged as JSON, its token as text and its id nowhere', async () => {
  await using locks = createLocks(memory({ clock: manualClock(1) }), { clock: manualClock(1) });
  const lease = await locks.mutex('order').acquire({ ttl: 1_000 });
  const { remaining } = lease;
  expect(JSON.parse(JSON.stringify(lease))).toEqual({ key: 'order', held: true, remaining, token: `${lease.token}` });
  const both = await locks.all(['a', locks.rwLock('b').read]).acquire({ ttl: 1_000 });
  const shown = JSON.parse(JSON.stringify(both));
  expect(shown).toMatchObject({ key: 'a, b', held: true, tokens: { a: `${both.tokens.get('a')}` } });
  await lease.release();
  expect(JSON.parse(JSON.stringify(lease))).toMatchObject({ held: false, remaining: 0 });
});

test('an attempt that was not answered and arrives after an extension never ends the lease before its deadline', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  let late: (() => Promise<unknown>) | undefined;
  const backend = around(engine, {
    attempt(claim) {
      if (late) return engine.attempt(claim);
      late = () => engine.attempt(claim); // on its way, when the connection breaks
      return Promise.reject(new Error('the connection broke'));
    },
  });
  const locks = createLocks(backend, { clock, ttl: 900 });
  const waiting = locks.mutex('key').acquire();
  await clock.advance(50);
  const lease = await waiting;
  await lease.extend(20_000);
  await late?.();
  for await (const { remaining } of engine.inspect!('key')) {
    expect(remaining, 'on the engine').toBeGreaterThanOrEqual(lease.remaining);
  }
  await lease.release();
});

test.each([
  300, 3_000, 30_000,
])('who waited has all of %d ms from the grant, in one command, whenever it was admitted', async (ttl) => {
  for (const pause of [0.1, 0.5, 0.9]) {
    const { clock, engine, locks } = scene();
    const other = createLocks(engine, { clock, handOff: false });
    const holder = await other.mutex('key').acquire();
    const waiting = locks.mutex('key').acquire({ ttl, renew: false });
    const sign = Math.min(2_000, ttl / 3);
    await clock.advance(10 + sign + pause * sign);
    await holder.release();
    const lease = await waiting;
    expect(lease.remaining).toBeGreaterThan(ttl * 0.99 - 3);
    expect(lease.remaining, 'and no more than that').toBeLessThanOrEqual(ttl);
    await clock.advance(ttl * 0.98 - 2);
    expect(lease.held).toBe(true);
    await clock.advance(ttl * 0.02 + 2);
    expect(lease.held).toBe(false);
  }
});

test('what is left of a grant that this process hears of late is no lease: it asks once more', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  let unheard = 0;
  const deaf = around(engine, {
    attempt: (claim) => (unheard-- > 0 ? new Promise(() => {}) : engine.attempt(claim)),
    watch: (claim, wake) => engine.watch!(claim, (grant) => void clock.after(3_500, () => wake(grant))),
  });
  const holder = await createLocks(engine, { clock, handOff: false }).mutex('key').acquire();
  const waiting = createLocks(deaf, { clock }).mutex('key').acquire({ ttl: 30_000, renew: false });
  await clock.advance(100);
  unheard = 1; // its next sign of life, as from a process that stands still
  await holder.release();
  await clock.advance(8_000);
  const lease = await waiting;
  expect(lease.remaining, 'a second after it was granted at the earliest').toBeGreaterThan(28_500);
  await lease.release();
});

test.each<[string, (lock: Mutex) => Promise<unknown>]>([
  ['run()', (lock) => lock.run(() => 'done', { handOff: false })],
  [
    'a block that uses a lease',
    async (lock) => {
      await using _ = await lock.acquire({ handOff: false });
      return 'done';
    },
  ],
])('%s is over when the lock is free, as far as the engine tells', async (_, work) => {
  const freed = Promise.withResolvers<void>();
  const engine = memory();
  const slow = around(engine, {
    release: async (handle, next) => {
      await freed.promise;
      return engine.release(handle, next);
    },
  });
  let over = false;
  const running = work(createLocks(slow).mutex('key')).finally(() => {
    over = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(over).toBe(false);
  freed.resolve();
  expect(await running).toBe('done');
});

test('a view of a hold that was given back is held no longer, though the hold around it is', async () => {
  const { locks } = scene();
  const lock = locks.mutex('key');
  await lock.run(async (outer) => {
    const child = await lock.acquire();
    expect(child.signal).toBe(child.signal);
    await child.release();
    expect([child.held, child.remaining, outer.held]).toEqual([false, 0, true]);
    expect(() => child.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_NOT_HELD' }));
    expect(await child.release(), 'a second time').toBe(false);
  });
});

test('a view that was given back is told no loss of the hold around it', async () => {
  const { locks } = scene();
  const lock = locks.mutex('key');
  let told: boolean[] = [];
  const running = lock.run(async (outer) => {
    const child = await lock.acquire();
    await child.release();
    const { signal } = child;
    lose(outer);
    told = [outer.signal.aborted, signal.aborted];
  });
  await running.catch(() => {});
  expect(told).toEqual([true, false]);
});

test('whoever asks after the deadline is told the loss that the signal told', async () => {
  const { clock, locks } = scene();
  const lease = await locks.mutex('key').acquire({ renew: false });
  const { signal } = lease;
  await clock.advance(2_000);
  let thrown: unknown;
  try {
    lease.assertHeld();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBe(signal.reason);
});

test('an extension to no lease that there is names the option', async () => {
  const { locks } = scene();
  const lease = await locks.mutex('key').acquire();
  await expect(lease.extend(-1)).rejects.toMatchObject({
    code: 'LOCK_INVALID',
    message: expect.stringMatching(/^ttl is -1/),
  });
  await lease.release();
});

test('an extension of what the engine no longer has is the loss of it, at once', async () => {
  const { locks } = scene(async () => ['gone']);
  const lease = await locks.mutex('key').acquire();
  await expect(lease.extend(5_000)).rejects.toMatchObject({
    code: 'LOCK_LOST',
    message: expect.stringContaining('the engine no longer has it'),
  });
  expect(lease.held).toBe(false);
});

test('several that could not be had take nothing from the minHold of a hold around them', async () => {
  const { clock, engine, locks } = scene();
  await createLocks(engine, { clock }).mutex('taken').acquire();
  const lock = locks.mutex('key', { minHold: 5_000 });
  await lock.run(async () => {
    expect(await locks.all([lock, 'taken']).tryAcquire()).toBeNull();
  });
  await clock.advance(4_000);
  expect(await locks.mutex('key').tryAcquire()).toBeNull();
});

test('where timers stand still, a look at a lease tells of its loss, once, a second after its deadline', async () => {
  const clock = manualClock();
  using events = heard('lost');
  const still = { ...clock, now: () => clock.now(), resync: () => clock.resync(), after: () => () => {} };
  const lease = await createLocks(memory({ clock }), { clock: still, ttl: 3_000 }).mutex('key').acquire();
  const look = async (): Promise<[held: boolean, code: string | undefined]> => {
    const { held } = lease;
    await null;
    return [held, lease.signal.reason?.code];
  };
  const { remaining: lasts } = lease;
  await clock.advance(lasts - 1);
  expect(await look(), 'before the deadline').toEqual([true, undefined]);
  await clock.advance(1);
  expect(await look(), 'at the deadline').toEqual([false, undefined]);
  await clock.advance(1_000);
  expect(await look(), 'a second later: a timer may still come').toEqual([false, undefined]);
  await clock.advance(1);
  expect(await look(), 'later').toEqual([false, 'LOCK_LOST']);
  expect(await look()).toEqual([false, 'LOCK_LOST']);
  expect(events.names).toEqual(['lost']);
});

test('only a lease as a lock gives it counts as one', async () => {
  const { locks } = scene();
  const lease = await locks.mutex('key').acquire();
  expect(heldLease(lease)).toBe(lease);
  for (const other of [undefined, 'key', { ...lease }, await locks.all(['a', 'b']).acquire()])
    expect(() => heldLease(other)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
});

test('an extension that the engine refuses, beside a renewal that had the longer lease, shortens no lease that the holder counts on', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const refused = Promise.withResolvers<Renewal[]>();
  let calls = 0;
  const backend = around(engine, { renew: (claims) => (calls++ === 0 ? refused.promise : engine.renew(claims)) });
  const lease = await createLocks(backend, { clock }).mutex('key').acquire();
  await clock.advance(9_000);
  const kept = new LockError('LOCK_INVALID', 'a lease lasts no longer here');
  const extended = expect(lease.extend(120_000)).rejects.toBe(kept);
  await clock.advance(1_500);
  refused.resolve([{ validFor: 28_500, kept }]);
  await extended;
  await clock.advance(90_000);
  for await (const { remaining } of engine.inspect!('key')) {
    expect(remaining, 'the lease on the engine, which the holder counts on').toBeGreaterThanOrEqual(lease.remaining);
  }
});

test('an extension that the engine refuses, as it refuses a renewal beside it, asks for no longer lease afterwards', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const kept = new LockError('LOCK_INVALID', 'a lease lasts no longer here');
  const refused = Promise.withResolvers<Renewal[]>();
  const asked: number[] = [];
  const backend = around(engine, {
    async renew(claims) {
      const [{ ttl }] = claims as [Claim];
      asked.push(ttl);
      if (asked.length === 1) return refused.promise;
      return ttl > 30_000 ? [{ validFor: 30_000, kept }] : engine.renew(claims);
    },
  });
  const lease = await createLocks(backend, { clock }).mutex('key').acquire();
  await clock.advance(9_000);
  const extended = expect(lease.extend(120_000)).rejects.toBe(kept);
  await clock.advance(1_500);
  refused.resolve([{ validFor: 28_500, kept }]);
  await extended;
  await clock.advance(30_000);
  expect(lease.held).toBe(true);
  expect(asked.slice(2).length).toBeGreaterThan(0);
  expect(new Set(asked.slice(2))).toEqual(new Set([30_000]));
});
