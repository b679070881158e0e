import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Claim } from '../../src/core/contract/backend.ts';
import { createLocks, type LockOptions } from '../../src/index.ts';

/** One process, and every claim it brings to the engine. */
function scene() {
  const clock = manualClock(1);
  const asked: Claim[] = [];
  const engine = memory({ clock });
  const backend = around(engine, {
    attempt(claim) {
      asked.push(claim);
      return engine.attempt(claim);
    },
  });
  const locks = createLocks(backend, { clock, ttl: 1_000 });
  const take = (options: LockOptions = {}) => locks.mutex('key').acquire(options);
  return { clock, asked, engine, locks, take };
}

test('a hold passes on with the next token and without the engine', async () => {
  const { asked, take } = scene();
  const first = await take();
  const waiting = take();
  expect(await first.release(), 'freed it').toBe(true);
  const second = await waiting;
  expect(second.token).toBe(first.token + 1n);
  expect(asked).toHaveLength(1);
  await second.release();
});

test('no token is given out that the engine has not reserved, whoever is willing to pass on more often', async () => {
  const { clock, asked, take } = scene();
  const first = await take({ handOff: { max: 1 } });
  const waiting = Array.from({ length: 4 }, () => take({ handOff: { max: 64 } }));
  const tokens = [first.token];
  await first.release();
  for (const next of waiting) {
    await clock.advance(1);
    const lease = await next;
    tokens.push(lease.token);
    await lease.release();
  }
  const [tokenCount] = asked.map((claim) => claim.tokenCount);
  expect(tokens.filter((token) => token - first.token < BigInt(tokenCount!))).toHaveLength(tokenCount!);
  expect(new Set(tokens).size, `${tokens}`).toBe(tokens.length);
  expect(asked.length, 'the third caller asked the engine').toBeGreaterThan(1);
});

test('a hold that was extended goes back to the engine: its length was for one caller', async () => {
  const { clock, asked, take } = scene();
  const first = await take();
  await first.extend(60_000);
  const waiting = take();
  await first.release();
  await clock.advance(1);
  const second = await waiting;
  expect(second.remaining).toBeLessThanOrEqual(1_000);
  expect(asked.length).toBeGreaterThan(1);
  await second.release();
});

test('who does not renew gets the lease that was asked for, not what another has left of it', async () => {
  const { clock, take } = scene();
  const terms: LockOptions = { renew: false, handOff: { within: '1m' } };
  const first = await take(terms);
  const waiting = take(terms);
  await clock.advance(400);
  await first.release();
  await clock.advance(1);
  const second = await waiting;
  expect(second.remaining).toBeGreaterThan(900);
  await second.release();
});

test('the tenure is over after its time', async () => {
  const { clock, asked, take } = scene();
  const first = await take({ handOff: { within: 50 } });
  const waiting = take({ handOff: { within: 50 } });
  await clock.advance(60);
  await first.release();
  await clock.advance(1);
  await (await waiting).release();
  expect(new Set(asked.map(({ id }) => id)).size).toBe(2);
});

test('a waiter that gives up leaves its place in line to the next', async () => {
  const { clock, asked, take, engine } = scene();
  const elsewhere = createLocks(engine, { clock });
  const rival = await elsewhere.mutex('key').acquire();
  const hasty = expect(take({ wait: 100 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  const patient = take();
  await clock.advance(200);
  await hasty;
  await rival.release();
  await clock.advance(1);
  await (await patient).release();
  expect(new Set(asked.map(({ id }) => id)).size, 'places in line').toBe(1);
});

/** As `scene`, with one renewal that is on its way until the test lets it arrive; nobody hears of what came of it. */
function oneRenewalLate() {
  const clock = manualClock(1);
  const engine = memory({ clock });
  let arrive: (() => Promise<unknown>) | undefined;
  const backend = around(engine, {
    renew(claims) {
      if (arrive) return engine.renew(claims);
      arrive = () => engine.renew(claims);
      return new Promise(() => {});
    },
  });
  const locks = createLocks(backend, { clock, ttl: 9_000, handOff: { within: '1m' } });
  const late = { clock, engine, arrive: () => arrive!(), take: () => locks.mutex('key').acquire() };
  return late;
}

test.each([
  ['an extension under way', 1, 10],
  ['a renewal under way', 3_500, 10],
  ['an extension that nobody answered', 1, 5_200],
  ['a renewal that nobody answered', 3_500, 3_100],
] as const)('after a hand-over %s never shortens what the next holder has, whenever it arrives', async (what, before, after) => {
  const { clock, engine, arrive, take } = oneRenewalLate();
  const first = await take();
  if (what.startsWith('an extension')) void first.extend(1_000).catch(() => {});
  await clock.advance(before);
  await clock.advance(after);
  const waiting = take();
  await first.release();
  await clock.advance(10);
  const second = await waiting;
  let failed: unknown;
  void second.extend(60_000).catch((error) => {
    failed = error;
  });
  await clock.advance(6_000); // whoever waited for an answer has given up
  await arrive();
  expect(failed).toBeUndefined();
  expect(second.remaining).toBeGreaterThan(50_000);
  for await (const { remaining } of engine.inspect!('key')) {
    expect(remaining, 'on the engine').toBeGreaterThanOrEqual(second.remaining);
  }
  await second.release();
});

test('what the machine slept through is not passed on', async () => {
  const { clock, take } = scene();
  const first = await take();
  const waiting = take();
  clock.suspend(5_000); // no timer has run yet
  expect(await first.release(), 'freed it').toBe(false);
  expect(first.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
  await clock.advance(10);
  const second = await waiting;
  expect(second.held).toBe(true);
  expect(second.remaining).toBeGreaterThan(900);
  await second.release();
});

test.each<[string, LockOptions[], boolean]>([
  ['as often as its first holder allows', [{ max: 2 }, { max: 2 }, { max: 2 }].map((handOff) => ({ handOff })), true],
  ['not more often than the one that has it allows', [{}, { handOff: { max: 1 } }, {}], false],
  ['not more often than the next one allows', [{}, {}, { handOff: { max: 1 } }], false],
  ['as often as the next one allows', [{}, {}, { handOff: { max: 2 } }], true],
  ['not with minHold, however short', [{ minHold: 0.5 }, { minHold: 0.5 }, { minHold: 0.5 }], false],
])('a hold passes on twice, %s', async (_, options, passes) => {
  const { clock, take } = scene();
  const leases = [await take(options[0])];
  for (const waiting of options.slice(1).map((each) => take(each))) {
    await leases.at(-1)!.release();
    await clock.advance(3);
    leases.push(await waiting);
  }
  const [first, , last] = leases.map(({ token }) => token);
  expect(last === first! + 2n).toBe(passes);
});

test('what its holder was told is lost does not pass on, though much of it is left', async () => {
  const { clock, asked, take } = scene();
  const options: LockOptions = { notice: 600, maxHold: 300, handOff: { within: 5_000 } };
  const lease = await take(options);
  const { signal } = lease;
  const waiting = take(options);
  await clock.advance(600);
  expect([signal.aborted, lease.held, lease.remaining > 500]).toEqual([true, true, true]);
  await lease.release();
  await clock.advance(1);
  expect((await waiting).token).toBeGreaterThan(lease.token + 1n);
  expect(asked.length).toBeGreaterThan(1);
});

test.each([
  ['not while something waits inside of it', false],
  ['once what waited inside of it has what it waited for', true],
])('a hold passes on, %s', async (_, granted) => {
  const { clock, engine, locks, take } = scene();
  const theirs = await createLocks(engine, { clock }).mutex('theirs').acquire();
  const options: LockOptions = { handOff: { within: 5_000 } };
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const running = locks.mutex('key', options).run(async ({ token }) => {
    locks
      .mutex('theirs')
      .acquire()
      .catch(() => {});
    await ended;
    return token;
  });
  await clock.advance(1);
  const next = take(options);
  if (granted) await theirs.release();
  await clock.advance(1);
  end();
  const token = await running;
  await clock.advance(1);
  expect((await next).token === token + 1n).toBe(granted);
});
