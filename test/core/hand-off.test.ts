import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Claim, Renewal } from '../../src/core/contract/backend.ts';
import { createLocks, type Lease, type LockOptions } from '../../src/index.ts';

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

test.each([
  ['is not confirmed', (gate: PromiseWithResolvers<Renewal[]>) => gate.resolve(['unknown'])],
  ['fails', (gate: PromiseWithResolvers<Renewal[]>) => gate.reject(new Error('cut'))],
] as const)('a hold whose renewal %s in the turn of its release goes back to the engine: the renewal may still arrive', async (_, answer) => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  let gate: PromiseWithResolvers<Renewal[]> | undefined;
  const backend = around(engine, {
    renew(claims) {
      if (gate) return engine.renew(claims);
      gate = Promise.withResolvers();
      return gate.promise;
    },
  });
  const locks = createLocks(backend, { clock, ttl: 3_000, awaitRelease: false, handOff: { within: '5s' } });
  const first = await locks.mutex('key').acquire();
  const waiting = locks.mutex('key').acquire();
  await clock.advance(1_000);
  void first.release();
  answer(gate!);
  await clock.advance(10);
  const second = await waiting;
  expect(second.token, 'the engine has counted on').toBeGreaterThan(first.token + 1n);
  await second.release();
});

test.each([
  ['before', ['other', 'key']],
  ['after', ['key', 'other']],
] as const)('a hold that the listener of a loss %s it releases, just when it is due, is renewed no more: the renewal would shorten what the next holder has', async (_, order) => {
  const clock = manualClock();
  const engine = memory({ clock });
  const backend = around(engine, {
    async renew(claims) {
      // A renewal to the first lease takes a slower way than the extension.
      if (claims[0]!.ttl === 30_000) await new Promise<void>((resolve) => clock.after(300, resolve));
      return engine.renew(claims);
    },
  });
  const locks = createLocks(backend, { clock, handOff: { within: 60_000 } });
  const options: Record<string, LockOptions> = { other: { renew: false, ttl: 11_000, notice: 1_388 }, key: {} };
  const leases = [];
  for (const key of order) leases.push(await locks.mutex(key).acquire(options[key]));
  const [other, first] = order[0] === 'other' ? leases : leases.reverse();
  const next = locks.mutex('key').acquire();
  other!.signal.addEventListener('abort', () => void first!.release());
  const extended = next.then((lease) => lease.extend(120_000));
  await clock.advance(10_000);
  await extended;
  const second = await next;
  expect(second.token, 'passed on without the engine').toBe(first!.token + 1n);
  for await (const { remaining } of engine.inspect!('key')) {
    expect(remaining, 'the lease on the engine, which the holder counts on').toBeGreaterThanOrEqual(second.remaining);
  }
  await locks.close();
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

test.each<[string, LockOptions]>([
  ['a renewal', {}],
  ['an extension', {}],
  ['a question about a hold that is not renewed', { renew: false }],
])('a hold that %s finds gone in the turn of its release does not pass on', async (asks, options) => {
  const clock = manualClock();
  const engine = memory({ clock });
  const asked: [readonly Claim[], PromiseWithResolvers<Renewal[]>][] = [];
  const backend = around(engine, {
    renew(claims) {
      const answer = Promise.withResolvers<Renewal[]>();
      asked.push([claims, answer]);
      return answer.promise;
    },
    ...(asks === 'an extension' && { watchHold: undefined }),
  });
  const locks = createLocks(backend, { clock, awaitRelease: false, handOff: { within: 60_000 } });
  const first = await locks.mutex('key').acquire(options);
  let second: Lease | undefined;
  void locks
    .mutex('key')
    .acquire()
    .then((lease) => {
      second = lease;
    });
  await clock.advance(600);
  if (asks === 'an extension') void first.extend(30_000).catch(() => {});
  const others = createLocks(engine, { clock });
  const theirs = others.mutex('key').acquire();
  await clock.advance(10);
  await others.forceRelease('key', { reason: 'it hangs' });
  await clock.advance(3);
  const [claims, answer] = asked[0]!;
  const gone = await engine.renew(claims);
  expect(gone).toEqual(['gone']);
  void first.release();
  answer.resolve(gone);
  await clock.advance(5);
  expect([(await theirs).held, second?.held], 'two hold at once').toEqual([true, undefined]);
});

test.each<[string, LockOptions]>([
  ['passes on', {}],
  ['lingers', { handOff: { within: 60_000, linger: 1_000 } }],
  ['waits for the end of its turn', { awaitRelease: false }],
])('a hold whose engine has just told of its end, and was not asked yet, goes back where it else %s', async (how, options) => {
  const clock = manualClock();
  const engine = memory({ clock });
  const [locks, others] = [engine, engine].map((each) => createLocks(each, { clock }));
  const mutex = locks!.mutex('key', { handOff: { within: 60_000 }, ...options });
  const first = await mutex.acquire();
  const waiting = how === 'lingers' ? undefined : mutex.acquire();
  await clock.advance(600);
  const theirs = others!.mutex('key').acquire();
  await clock.advance(10);
  await others!.forceRelease('key', { reason: 'it hangs' });
  void first.release();
  let second: Lease | undefined;
  void (waiting ?? mutex.acquire()).then((lease) => {
    second = lease;
  });
  await clock.advance(5);
  expect([(await theirs).held, second?.held], 'two hold at once').toEqual([true, undefined]);
});

test('a hold does not pass on to a caller whose notice of a loss would be due before a renewal', async () => {
  const { clock, take } = scene();
  const handOff = { within: 60_000 };
  const first = await take({ handOff, ttl: 30_000 });
  await clock.advance(9_900);
  const waiting = take({ handOff, ttl: 30_000, notice: 20_000 });
  await clock.advance(1);
  await first.release();
  await clock.advance(100);
  const second = await waiting;
  expect(second.signal.aborted).toBe(false);
  expect(second.token).toBeGreaterThan(first.token + 1n);
});

test('a hold does not pass on once the engine has granted its key to another caller of this process', async () => {
  const { clock, engine, locks, take } = scene();
  const handOff = { within: 60_000 };
  const evicted = await take({ handOff, ttl: 30_000 });
  let granted: Lease | undefined;
  const inside = locks.mutex('other').run(async () => {
    granted = await take({ detect: true });
  });
  await clock.advance(10);
  const waiting = take({ handOff, ttl: 30_000 });
  await engine.evict!('key', evicted.token);
  await clock.advance(10);
  expect(granted?.held, 'the caller that stands in the queue of the engine').toBe(true);
  await evicted.release();
  let passed: boolean | undefined;
  void waiting.then(({ held }) => {
    passed = held && granted!.held;
  });
  await clock.advance(100);
  expect(passed, 'two hold at once').toBeUndefined();
  await granted!.release();
  await clock.advance(100);
  expect((await waiting).token > granted!.token).toBe(true);
  await inside;
});
