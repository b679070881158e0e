import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, Claim, Traits } from '../../src/core/contract/backend.ts';
import { LayeredOptions } from '../../src/core/contract/option-table.ts';
import { checkDelay } from '../../src/core/contract/terms.ts';
import { HoldTiming, usableTime } from '../../src/core/queue/hold-timing.ts';
import { createLocks, type LockOptions } from '../../src/index.ts';

const TTL = 1_000;
const DELAY = 5_000;

/** An engine, a process on it whose calls may be changed, and another one. */
function scene(calls: (engine: Backend) => Partial<Backend> = () => ({}), traits: Partial<Traits> = {}) {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const mine = around(engine, { traits: { ...engine.traits, ...traits }, ...calls(engine) });
  const options = { clock, ttl: TTL, delay: DELAY };
  return { clock, engine, locks: createLocks(mine, options), rival: createLocks(engine, { clock, ttl: TTL }) };
}

/** When another process got the key, by the clock. */
async function entered({ clock, rival }: Pick<ReturnType<typeof scene>, 'clock' | 'rival'>): Promise<number> {
  const lease = await rival.mutex('key').acquire();
  const at = clock.now();
  await lease.release();
  return at;
}

const silent = new Promise<never>(() => {});

test('after a hold that expired nobody is let in for as long as delay says, counted from its deadline', async () => {
  const all = scene();
  const lease = await all.locks.mutex('key').acquire({ renew: false });
  expect(lease.remaining, 'the holder believes in the ttl alone').toBeLessThanOrEqual(TTL);
  const ended = all.clock.now() + lease.remaining;
  const next = entered(all);
  await all.clock.advance(TTL + DELAY + 3_000);
  expect(await next).toBeGreaterThanOrEqual(ended + DELAY);
  expect(await next, 'and not much longer').toBeLessThan(ended + DELAY + 3_000);
});

test('a process that dies while it renews keeps the others out for ttl and delay', async () => {
  let dead = false;
  const all = scene((engine) => ({ renew: (claims) => (dead ? silent : engine.renew(claims)) }));
  const lease = await all.locks.mutex('key').acquire();
  await all.clock.advance(10_000);
  expect(lease.held, 'renewed').toBe(true);
  dead = true;
  const ended = all.clock.now() + lease.remaining;
  const next = entered(all);
  await all.clock.advance(TTL + DELAY + 3_000);
  expect(lease.held).toBe(false);
  expect(await next).toBeGreaterThanOrEqual(ended + DELAY);
});

test('a release lets the next one in at once, also after the loss was told and before the deadline', async () => {
  const all = scene();
  const lease = await all.locks.mutex('key').acquire();
  await lease.release();
  const told = await all.locks.mutex('key').acquire({ renew: false, notice: 500 });
  await all.clock.advance(600);
  expect([told.signal.aborted, told.held]).toEqual([true, true]);
  expect(await told.release()).toBe(true);
  expect(await all.rival.mutex('key').tryAcquire()).not.toBeNull();
});

test('a release after the expiry ends no delay, and neither does close()', async () => {
  const all = scene();
  const lease = await all.locks.mutex('key').acquire({ renew: false });
  const ended = all.clock.now() + lease.remaining;
  await all.clock.advance(TTL);
  expect(await lease.release()).toBe(false);
  const closing = all.locks.close();
  const next = entered(all);
  await all.clock.advance(TTL + DELAY + 3_000);
  await closing;
  expect(await next).toBeGreaterThanOrEqual(ended + DELAY);
});

test('close() and a forced release free the key at once: neither is an expiry', async () => {
  const all = scene();
  await all.locks.mutex('key').acquire();
  await all.locks.close();
  const lease = await all.rival.mutex('key', { delay: DELAY }).acquire();
  expect(await all.rival.forceRelease('key', { reason: 'stuck' })).toBe(1);
  expect(await createLocks(all.engine, { clock: all.clock }).mutex('key').tryAcquire()).not.toBeNull();
  await all.clock.advance(TTL);
  expect(lease.held).toBe(false);
});

test('the renewal asks for ttl and delay, and the loss is told before the end of the ttl', async () => {
  const asked: number[] = [];
  let dead = false;
  const all = scene((engine) => ({
    renew(claims) {
      asked.push(...claims.map(({ ttl }) => ttl));
      return dead ? silent : engine.renew(claims);
    },
  }));
  const lease = await all.locks.mutex('key').acquire();
  await all.clock.advance(3_000);
  expect(new Set(asked)).toEqual(new Set([TTL + DELAY]));
  expect(asked.length, 'about three in a ttl').toBeGreaterThan(6);
  dead = true;
  await all.clock.advance(lease.remaining - TTL * 0.05);
  expect([lease.signal.aborted, lease.held], 'told in time').toEqual([true, true]);
});

test('an extension makes the lease longer, and the delay comes after it', async () => {
  const all = scene();
  const lease = await all.locks.mutex('key').acquire({ renew: false });
  await lease.extend(20_000);
  expect(lease.remaining).toBeGreaterThan(19_000);
  expect(lease.remaining).toBeLessThanOrEqual(20_000);
  const ended = all.clock.now() + lease.remaining;
  const next = entered(all);
  await all.clock.advance(30_000);
  expect(await next).toBeGreaterThanOrEqual(ended + DELAY);
});

test('what was waited for has all of its ttl, and the delay after it', async () => {
  const all = scene();
  const first = await all.rival.mutex('key').acquire();
  const waiting = all.locks.mutex('key').acquire({ renew: false });
  await all.clock.advance(300);
  await first.release();
  await all.clock.advance(1);
  const lease = await waiting;
  expect(lease.remaining).toBeGreaterThan(TTL * 0.95);
  expect(lease.remaining).toBeLessThanOrEqual(TTL);
  const ended = all.clock.now() + lease.remaining;
  const next = entered(all);
  await all.clock.advance(TTL + DELAY + 3_000);
  expect(await next).toBeGreaterThanOrEqual(ended + DELAY);
});

test('a hold with minHold that is released early stays for minHold, without a delay; one that expires for both', async () => {
  const all = scene();
  const early = await all.locks.mutex('key').acquire({ minHold: 2_000 });
  const began = all.clock.now();
  await early.release();
  const next = entered(all);
  await all.clock.advance(2_100);
  expect(await next).toBeGreaterThanOrEqual(began + 1_900);
  const late = await all.locks.mutex('key').acquire({ minHold: 2_000, renew: false });
  const ended = all.clock.now() + late.remaining;
  expect(late.remaining, 'the lease is as long as minHold').toBeGreaterThan(TTL);
  const after = entered(all);
  await all.clock.advance(2_000 + DELAY + 3_000);
  expect(await after).toBeGreaterThanOrEqual(ended + DELAY);
});

test('a hold passes from hand to hand where both ask for the same delay, and else goes back to the engine', async () => {
  const asked: Claim[] = [];
  const all = scene((engine) => ({
    attempt(claim) {
      asked.push(claim);
      return engine.attempt(claim);
    },
  }));
  const turns = async (first: LockOptions, second: LockOptions): Promise<number> => {
    asked.length = 0;
    const lease = await all.locks.mutex('key').acquire(first);
    const next = all.locks.mutex('key').acquire(second);
    await lease.release();
    await all.clock.advance(1);
    const last = await next;
    expect(last.remaining).toBeLessThanOrEqual(TTL);
    await last.release();
    return new Set(asked.map(({ id }) => id)).size;
  };
  expect(await turns({}, {}), 'equal').toBe(1);
  expect(await turns({}, { delay: 0, ttl: TTL }), 'another delay').toBeGreaterThan(1);
});

test('adaptive leases and all() have it, too', async () => {
  const all = scene();
  const lease = await all.locks.all(['key', 'other'], { adaptive: { cap: 10_000 } }).acquire();
  const ended = all.clock.now() + lease.remaining;
  expect(lease.remaining).toBeLessThanOrEqual(TTL);
  const next = entered(all);
  await all.clock.advance(TTL + DELAY + 3_000);
  expect(await next).toBeGreaterThanOrEqual(ended + DELAY);
});

test('inspect() shows the holder until the delay is over, and what is left of both', async () => {
  const all = scene();
  await all.locks.mutex('key').acquire({ renew: false, wait: 0 });
  const shown = async (): Promise<[boolean, number] | undefined> => {
    for await (const { held, remaining } of all.rival.inspect('key')) return [held, remaining];
    return undefined;
  };
  expect(await shown()).toEqual([true, TTL + DELAY]);
  await all.clock.advance(TTL + 1_000);
  expect(await shown()).toEqual([true, DELAY - 1_000]);
  await all.clock.advance(DELAY);
  expect(await shown()).toBeUndefined();
});

test('who leads is nobody, and not the last leader, while the delay after its term goes on', async () => {
  let dead = false;
  const all = scene((engine) => ({ renew: (claims) => (dead ? silent : engine.renew(claims)) }));
  const options = { ttl: TTL, delay: DELAY };
  const run = all.locks.leader('key', options).run((term) => term.signal.aborted || silent);
  const observer = all.rival.leader('key', options);
  await all.clock.advance(1);
  expect(await observer.current()).not.toBeNull();
  await all.clock.advance(TTL);
  dead = true;
  await all.clock.advance(TTL + 500);
  expect(await observer.current(), 'in the delay').toBeNull();
  void run;
});

test.each<[string, Partial<Traits>, LockOptions, string, RegExp]>([
  ['a negative delay', {}, { delay: -1 }, 'LOCK_INVALID', /delay is -1; it must be from 0 ms to 1 min/],
  ['more than a minute', {}, { delay: '61s' }, 'LOCK_INVALID', /it must be from 0 ms to 1 min/],
  [
    'with ttl, more than the engine keeps',
    { ttl: { min: 10, max: 30_000 } },
    { ttl: 26_000 },
    'LOCK_INVALID',
    /to 25 s/,
  ],
  ['with extend, more than that', { ttl: { min: 10, max: 6_000 } }, {}, 'extend', /from 10 ms to 1 s/],
  ['a hold that ends with its connection', { lifetime: 'session' }, {}, 'LOCK_UNSUPPORTED', /connection of its holder/],
  [
    'one where other programs hold keys',
    { hasStrangers: true },
    {},
    'LOCK_UNSUPPORTED',
    /locks of other programs are free as soon as they expire/,
  ],
  [
    'more than half of a session',
    { lifetime: 'session', sessionGrace: 8_000 },
    {},
    'LOCK_INVALID',
    /it must be from 0 ms to 4 s/,
  ],
])('%s is refused, with the bound', async (_title, traits, options, code, message) => {
  const matching = { code: code === 'extend' ? 'LOCK_INVALID' : code, message: expect.stringMatching(message) };
  const made = () => scene(() => ({}), traits).locks.mutex('key', options);
  if (code !== 'extend') return expect(made).toThrow(expect.objectContaining(matching));
  const lease = await made().acquire();
  await expect(lease.extend(1_001)).rejects.toMatchObject(matching);
});

test('where a session carries holds the delay is taken off what its answers are good for', async () => {
  const session = (engine: Backend): Partial<Backend> => ({
    async attempt(claim) {
      const answer = await engine.attempt({ ...claim, ttl: 9_000 });
      return answer.granted ? { ...answer, validFor: 9_000 } : answer;
    },
    renew: (claims) => Promise.all(claims.map(() => ({ validFor: 9_000 }))),
  });
  const traits = { expires: false, lifetime: 'session', sessionGrace: 10_000 } satisfies Partial<Traits>;
  const { clock, locks } = scene(session, traits);
  const lease = await locks.mutex('key').acquire({ ttl: 60_000 });
  expect(lease.remaining).toBeLessThanOrEqual(9_000 - DELAY);
  await clock.advance(60_000);
  expect(lease.held, 'renewed').toBe(true);
});

test('an engine whose answers are worth less than the delay is told of, and not asked in a loop', async () => {
  let asked = 0;
  const { clock, locks } = scene((engine) => ({
    async attempt(claim) {
      asked++;
      const answer = await engine.attempt(claim);
      return answer.granted ? { ...answer, validFor: 4_000 } : answer;
    },
  }));
  const ended = expect(locks.mutex('key').acquire()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(10_000);
  await ended;
  expect(asked).toBeLessThan(5);
});

test('a delay is at most what leases leave beside the shortest one, and half of what a session outlives', () => {
  const { traits } = memory();
  const leases: Traits = { ...traits, lifetime: 'lease', ttl: { min: 10, max: 1_000 } };
  expect(checkDelay(990, leases)).toBe(990);
  expect(() => checkDelay(991, leases)).toThrow(/from 0 ms to 990 ms/);
  const sessions: Traits = { ...traits, lifetime: 'session', sessionGrace: 999 };
  expect(checkDelay(499, sessions)).toBe(499);
  expect(() => checkDelay(500, sessions)).toThrow(/from 0 ms to 499 ms/);
});

test('where a hold ends with its connection not even a delay of 1 ms is taken, and none always is', () => {
  const { traits } = memory();
  const connection: Traits = { ...traits, lifetime: 'session' };
  expect(() => checkDelay(1, connection)).toThrow(expect.objectContaining({ code: 'LOCK_UNSUPPORTED' }));
  for (const own of [connection, { ...traits, hasStrangers: true }]) expect(checkDelay(0, own)).toBe(0);
});

test('a holder believes in what is left beside the delay: in all of it without one, and never in nothing', () => {
  const maxHold = Number.POSITIVE_INFINITY;
  expect(usableTime(100, 1_000, { delay: 1, maxHold })).toBe(99);
  expect(usableTime(0.4, 1_000, { delay: 0, maxHold })).toBe(0.4);
  expect(usableTime(5, 1_000, { delay: 10, maxHold })).toBe(1);
});

test('nobody is kept out after a hold without a delay', () => {
  const { traits } = memory();
  const closed = [0, 1, 7].map((delay) => {
    const { terms } = new LayeredOptions(traits, { ttl: 50, delay });
    const timing = new HoldTiming({ token: 1n, sent: 0, since: 0, validFor: 50 + delay }, terms, true);
    return timing.closedUntil - timing.deadline;
  });
  expect(closed).toEqual([-47.5, 1, 7]);
});
