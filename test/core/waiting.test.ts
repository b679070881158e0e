import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, Claim, QueueEntry, Traits, Wake } from '../../src/core/contract/backend.ts';
import { createLocks, LockError } from '../../src/index.ts';

/** An engine, and one process on it whose calls may be changed. */
function scene(traits: Partial<Traits>, calls: (engine: Backend) => Partial<Backend> = () => ({})) {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const backend = around(engine, { traits: { ...engine.traits, ...traits }, ...calls(engine) });
  const locks = createLocks(backend, { clock, ttl: 1_000, handOff: false });
  const places = async (): Promise<number> => (await standings(engine.inspect!(''))).length;
  return { clock, engine, locks, places, rival: createLocks(engine, { clock, handOff: false }) };
}

async function standings(shown: AsyncIterable<QueueEntry>): Promise<QueueEntry[]> {
  const found: QueueEntry[] = [];
  for await (const standing of shown) found.push(standing);
  return found;
}

const lost = new Promise<never>(() => {});

/** Mail as an engine sends it: from the moment the box is there. The reply to a release that takes a claim along is lost. */
function mailbox(onRelease: () => void) {
  return (engine: Backend): Partial<Backend> => {
    const boxes = new Map<string, Wake>();
    const attempt = async (claim: Claim) => {
      const answer = await engine.attempt(claim);
      if (!answer.granted) engine.watch!(claim, (grant) => boxes.get(claim.id)?.(grant));
      return answer;
    };
    return {
      attempt,
      watch(claim, wake) {
        boxes.set(claim.id, wake);
        return { [Symbol.asyncDispose]: async () => void boxes.delete(claim.id) };
      },
      async release(handle, next) {
        await engine.release(handle);
        if (!next) return { freed: true };
        await attempt(next);
        onRelease();
        return lost;
      },
    };
  };
}

test('a wait that ends before anything was answered does not say that others hold it, since nobody knows', async () => {
  const { clock, locks } = scene({}, () => ({ attempt: () => lost }));
  const waited = expect(locks.mutex('key').acquire({ wait: 500 })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(500);
  await waited;
});

test('one that was told so says that others hold it, also while it is asking once more', async () => {
  const { clock, locks, rival } = scene({ wakes: 'never' }, (engine) => {
    const answers = [(claim: Claim) => engine.attempt(claim)];
    return { attempt: (claim) => answers.pop()?.(claim) ?? lost };
  });
  await rival.mutex('key').acquire();
  const waited = expect(locks.mutex('key').acquire({ wait: 300 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  await clock.advance(300);
  await waited;
});

test('who waited for another caller of the process, for most of the wait, does not say that the engine is silent', async () => {
  const codes = { 100: 'LOCK_UNAVAILABLE', 400: 'LOCK_TIMEOUT' };
  for (const [held, code] of Object.entries(codes)) {
    const { clock, locks } = scene({ wakes: 'watch' }, (engine) => {
      const answers = [(claim: Claim) => engine.attempt(claim)];
      return { attempt: (claim) => answers.pop()?.(claim) ?? lost };
    });
    const holder = await locks.mutex('key').acquire();
    const waited = expect(locks.mutex('key').acquire({ wait: 500 })).rejects.toMatchObject({ code });
    await clock.advance(Number(held));
    await holder.release();
    await clock.advance(500 - Number(held));
    await waited;
  }
});

test('a claim that went along with a release whose reply is lost is served, by mail or by asking again', async () => {
  for (const taken of [true, false]) {
    const world = scene(
      { wakes: 'buffered' },
      mailbox(() => {}),
    );
    const { clock, locks, rival } = world;
    const first = await locks.mutex('key').acquire();
    const ahead = taken ? rival.mutex('key').acquire() : undefined;
    await clock.advance(1);
    const waiting = locks.mutex('key').acquire();
    void first.release();
    await clock.advance(100);
    await (await ahead)?.release();
    let lease: { held: boolean } | undefined;
    void waiting.then((got) => {
      lease = got;
    });
    await clock.advance(3_000);
    expect(lease?.held, taken ? 'by mail' : 'by asking').toBe(true);
    await (await waiting).release();
  }
});

test('a waiter that is gone before that reply is missed leaves nothing on the engine', async () => {
  const { clock, locks, places } = scene(
    { wakes: 'buffered' },
    mailbox(() => {}),
  );
  const first = await locks.mutex('key').acquire();
  const controller = new AbortController();
  const waiting = expect(locks.mutex('key').acquire({ ttl: 60_000, signal: controller.signal })).rejects.toMatchObject({
    code: 'LOCK_ABORTED',
  });
  void first.release();
  controller.abort();
  await waiting;
  await clock.advance(10_000);
  expect(await places()).toBe(0);
});

test('where nobody is woken, a place in line gets its signs of life however long the pauses are meant to be', async () => {
  const seen: string[] = [];
  const { clock, locks, rival } = scene({ wakes: 'never' }, (engine) => ({
    watch: undefined,
    attempt(claim) {
      seen.push(claim.id);
      return engine.attempt(claim);
    },
  }));
  const first = await rival.mutex('key').acquire();
  const waiting = locks.mutex('key').acquire({ spin: { pause: 60_000, bound: 60_000 } });
  await clock.advance(10);
  const later = rival.mutex('key').acquire();
  await clock.advance(5_000);
  await first.release();
  await clock.advance(1_000);
  const lease = await waiting;
  expect(lease.held, 'served in its turn').toBe(true);
  await lease.release();
  await clock.advance(10);
  await (await later).release();
  expect(seen.length).toBeGreaterThan(15);
});

const SPIN = { pause: 10, bound: 1_000, jitter: 0 };

/** A scene on an engine that wakes nobody, and the times at which the process asked it. */
function polled() {
  const asked: number[] = [];
  const all = scene({ wakes: 'never' }, (engine) => ({
    attempt(claim) {
      asked.push(all.clock.now());
      return engine.attempt(claim);
    },
  }));
  return { ...all, asked };
}

const pausesOf = (times: readonly number[]): number[] => times.slice(1).map((at, n) => at - times[n]!);

test('where nobody is woken, a waiter asks often again as soon as the line ahead of it is shorter', async () => {
  const { asked, clock, engine, locks, rival } = polled();
  const first = await rival.mutex('key').acquire({ ttl: '1h' });
  const second = createLocks(engine, { clock }).mutex('key').acquire({ ttl: '1h' });
  await clock.advance(1);
  const waited = locks.mutex('key').acquire({ ttl: '1h', wait: '1h', spin: SPIN });
  await clock.advance(10_000);
  expect(pausesOf(asked).at(-1), 'the longest pause by then').toBeGreaterThanOrEqual(600);
  await first.release();
  await clock.advance(2_000);
  const shortest = pausesOf(asked).lastIndexOf(SPIN.pause);
  expect(pausesOf(asked).slice(shortest, shortest + 3), 'pauses after the line has moved').toEqual([10, 20, 40]);
  expect(shortest, 'and not only at the beginning').toBeGreaterThan(5);
  await (await second).release();
  await clock.advance(2_000);
  await (await waited).release();
});

test('where nobody is woken, a waiter that was not told of the line ahead asks often again when it is', async () => {
  const asked: number[] = [];
  let answer = { granted: false, ahead: 3 } as { granted: false; ahead?: number };
  const { clock, locks } = scene({ wakes: 'never' }, () => ({
    async attempt() {
      asked.push(clock.now());
      return answer;
    },
  }));
  void locks
    .mutex('key')
    .acquire({ wait: '1h', spin: SPIN })
    .catch(() => {});
  for (const next of [{ granted: false }, { granted: false, ahead: 3 }] as const) {
    await clock.advance(10_000);
    answer = next;
    asked.length = 0;
  }
  await clock.advance(1_500);
  expect(pausesOf(asked).slice(0, 3), 'pauses after the one that told it').toEqual([10, 20, 40]);
  await locks.close();
});

test('a waiter whose place was taken away counts the line ahead from its new place', async () => {
  const { asked, clock, engine, locks, rival } = polled();
  const first = await rival.mutex('key').acquire({ ttl: '1h' });
  const waited = locks.mutex('key').acquire({ ttl: '1h', wait: '1h', spin: SPIN });
  await clock.advance(1);
  const second = createLocks(engine, { clock }).mutex('key').acquire({ ttl: '1h' });
  await clock.advance(10_000);
  const [, mine] = await standings(engine.inspect!('key'));
  await engine.evict!('key', mine!.token);
  await clock.advance(10_000);
  asked.length = 0;
  await first.release();
  await clock.advance(3_000);
  expect(pausesOf(asked).slice(0, 3), 'pauses after the one that found the line shorter').toEqual([10, 20, 40]);
  await (await second).release();
  await clock.advance(2_000);
  await (await waited).release();
});

test('readers who wait for a writer here come in together when it goes', async () => {
  const { clock, locks } = scene({ wakes: 'buffered' }, (engine) => ({
    watch: (claim, wake) => engine.watch!(claim, wake),
  }));
  const lock = locks.rwLock('key');
  const writer = await lock.write.acquire();
  const readers = [lock.read.acquire(), lock.read.acquire(), lock.read.acquire()];
  await writer.release();
  let inside = 0;
  for (const reader of readers) void reader.then(() => inside++);
  await clock.advance(50);
  expect(inside).toBe(3);
  for (const reader of readers) await (await reader).release();
});

test('an engine that is always slower than the lease is asked with pauses in between, and once by tryAcquire', async () => {
  let attempts = 0;
  const { clock, locks, places } = scene({ wakes: 'never' }, (engine) => ({
    async attempt(claim) {
      attempts++;
      const answer = await engine.attempt(claim);
      await new Promise<void>((resolve) => clock.after(4, resolve));
      return answer;
    },
  }));
  const tried = expect(locks.mutex('key').tryAcquire({ ttl: 5 })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(10);
  await tried;
  expect(attempts).toBe(1);
  const limited = expect(locks.mutex('key').acquire({ ttl: 5, wait: 300 })).rejects.toThrow();
  await clock.advance(400);
  await limited;
  await clock.advance(100);
  expect(await places()).toBe(0);
});

test('after a grant of which nothing was left when it came the engine is asked with pauses that double', async () => {
  const asked: number[] = [];
  const { clock, locks } = scene({ wakes: 'never', fair: false }, () => ({
    async attempt() {
      asked.push(clock.now());
      await new Promise<void>((resolve) => clock.after(4, resolve));
      return { granted: true, token: 1n, validFor: 5 };
    },
    release: async () => ({ freed: true }),
  }));
  const limited = expect(locks.mutex('key').acquire({ ttl: 5, wait: 300, spin: SPIN })).rejects.toThrow();
  await clock.advance(300);
  await limited;
  expect(pausesOf(asked)).toEqual([14, 24, 44, 84]);
});

test('a hold with minHold whose shortening fails is not given back early', async () => {
  const { clock, locks, rival } = scene({}, () => ({ renew: () => Promise.reject(new Error('no connection')) }));
  const lease = await locks.mutex('key').acquire({ minHold: 600 });
  await lease.release();
  await clock.advance(500);
  expect(await rival.mutex('key').tryAcquire()).toBeNull();
  await clock.advance(600);
  expect(await rival.mutex('key').tryAcquire()).not.toBeNull();
});

test('a hold with minHold whose lease is over is not given back early', async () => {
  const { clock, locks, rival } = scene({});
  const lease = await locks.mutex('key').acquire({ minHold: 60_000, renew: false });
  await clock.advance(59_900);
  expect(lease.held, 'past the deadline, which leaves a margin').toBe(false);
  expect(await rival.mutex('key').tryAcquire()).toBeNull();
  await locks.close();
  expect(await rival.mutex('key').tryAcquire(), 'closed').toBeNull();
  await clock.advance(3_000); // the claim of one that may wait lasts a little longer
  expect(await rival.mutex('key').tryAcquire()).not.toBeNull();
});

test('where holds cannot expire by themselves, one that is over is given back when minHold is', async () => {
  const { clock, locks, places } = scene({ expires: false }, (engine) => ({
    attempt: (claim) => engine.attempt({ ...claim, ttl: 1e9 }),
  }));
  const lease = await locks.mutex('key').acquire({ minHold: 60_000, renew: false });
  await clock.advance(59_900);
  expect(lease.held).toBe(false);
  expect(await places(), 'before').toBe(1);
  await clock.advance(200);
  expect(await places(), 'after').toBe(0);
});

test('to look at an engine, to check it or to evict has an end, and says that the engine was not there', async () => {
  const { clock, locks } = scene({}, () => ({
    evict: () => lost,
    check: () => lost,
    async *inspect() {
      yield await lost;
    },
  }));
  const looked = expect(standings(locks.inspect())).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(6_000);
  await looked;
  const checked = expect(locks.check()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE', backend: 'memory' });
  await clock.advance(6_000);
  await checked;
  const forced = expect(locks.forceRelease('key', { reason: 'test' })).rejects.toMatchObject({
    code: 'LOCK_UNAVAILABLE',
  });
  await clock.advance(6_000);
  await forced;
});

test('a waiter that now and then comes too late, over a long wait, is no trouble of the engine', async () => {
  for (let wait = 8_000; wait <= 12_000; wait += 500) {
    let asked = 0;
    const { clock, locks } = scene({ wakes: 'never' }, () => ({
      attempt: async () => (++asked % 2 === 0 ? { granted: false, late: true } : { granted: false, retryAfter: 2_000 }),
    }));
    const over = expect(locks.mutex('key').acquire({ wait, spin: { pause: 1_000 } })).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
    });
    await clock.advance(13_000);
    await over;
  }
});

/** A waiter on an engine whose answers and mails are the test's. */
function waiterOf(ttl: number, lifetime: Traits['lifetime'] = 'lease') {
  let wake: Wake | undefined;
  const refused: Backend['attempt'] = async () => ({ granted: false, ahead: 1 });
  const waiter = {
    token: undefined as bigint | undefined,
    /** Under which it stood in line. */
    ids: new Set<string>(),
    refused,
    answers: refused,
    mail: (token: bigint, validFor: number, lost?: AbortSignal) => wake?.({ granted: true, token, validFor, lost }),
  };
  const { clock, locks } = scene({ wakes: 'buffered', lifetime }, () => ({
    attempt(claim) {
      waiter.ids.add(claim.id);
      return waiter.answers(claim);
    },
    watch(_claim, heard) {
      wake ??= heard;
      return { [Symbol.asyncDispose]: async () => {} };
    },
  }));
  void locks
    .mutex('key')
    .acquire({ ttl })
    .then(({ token }) => {
      waiter.token = token;
    });
  return { clock, waiter };
}

test.each([
  'lease',
  'session',
] as const)('mail for a place that has expired is no grant of the place that the same waiter has now: kept by a %s', async (keptBy) => {
  const { clock, waiter } = waiterOf(1_000, keptBy);
  await clock.advance(10);
  waiter.answers = () => lost;
  await clock.advance(1_100); // admitted meanwhile as number 5, which it never hears, and expired
  waiter.answers = waiter.refused;
  await clock.advance(400);
  waiter.mail(5n, 1_000);
  await clock.advance(10);
  expect(waiter.token, 'believed a mail from before it expired').toBeUndefined();
  waiter.answers = async () => ({ granted: true, token: 9n, validFor: 1_000 });
  await clock.advance(1_000);
  expect(waiter.token).toBe(9n);
});

test.each([
  'lease',
  'session',
] as const)('mail from before a silence in which a place may expire is no grant, however long the lease, and the place is kept: by a %s', async (keptBy) => {
  const { clock, waiter } = waiterOf(60_000, keptBy);
  await clock.advance(10);
  waiter.answers = () => lost;
  await clock.advance(6_500); // told that it is number 5, which it never hears, and passed over for its silence
  waiter.answers = waiter.refused;
  await clock.advance(3_000);
  waiter.mail(5n, 6_000);
  await clock.advance(10);
  expect(waiter.token, 'believed a mail from before it was passed over').toBeUndefined();
  waiter.answers = async () => ({ granted: true, token: 9n, validFor: 60_000 });
  waiter.mail(9n, 60_000); // a bell all the same
  await clock.advance(10);
  expect(waiter.token).toBe(9n);
  expect(waiter.ids.size, 'claims it stood in line with').toBe(1);
});

test.each([
  'lease',
  'session',
] as const)('what came by mail is a hold, and the engine is not asked again: kept by a %s', async (keptBy) => {
  const { clock, waiter } = waiterOf(60_000, keptBy);
  await clock.advance(10);
  let asked = 0;
  waiter.answers = (claim) => {
    asked++;
    return waiter.refused(claim);
  };
  // A session may be good for less than the lease, and its holds are renewed all the same.
  waiter.mail(5n, keptBy === 'lease' ? 63_000 : 15_000);
  await clock.advance(10);
  expect([waiter.token, asked]).toEqual([5n, 0]);
});

test('mail of which less is left than was asked for is only a bell', async () => {
  const { clock, waiter } = waiterOf(60_000);
  await clock.advance(10);
  waiter.answers = async () => ({ granted: true, token: 5n, validFor: 60_000 });
  waiter.mail(4n, 59_000);
  await clock.advance(10);
  expect(waiter.token).toBe(5n);
});

test('what came by mail counts, though the attempt beside it is refused for good', async () => {
  const { clock, waiter } = waiterOf(60_000);
  await clock.advance(10);
  const { promise: outstanding, reject: refuse } = Promise.withResolvers<never>();
  waiter.answers = () => outstanding;
  await clock.advance(2_100);
  waiter.mail(5n, 63_000);
  refuse(new LockError('LOCK_UNSUPPORTED', 'no rights any more'));
  await clock.advance(10);
  expect(waiter.token).toBe(5n);
});

test('what came by mail and ended while an answer was outstanding is no grant', async () => {
  const { clock, waiter } = waiterOf(60_000);
  await clock.advance(10);
  const { promise: outstanding, reject: fail } = Promise.withResolvers<never>();
  waiter.answers = () => outstanding;
  await clock.advance(2_100);
  waiter.answers = waiter.refused;
  waiter.mail(5n, Number.POSITIVE_INFINITY, AbortSignal.abort()); // with the session that had it
  fail(new Error('the connection has ended'));
  await clock.advance(3_000);
  expect(waiter.token, 'believed in a hold that is gone').toBeUndefined();
  waiter.answers = async () => ({ granted: true, token: 9n, validFor: 60_000 });
  await clock.advance(3_000);
  expect(waiter.token).toBe(9n);
});

test('of a mail and a grant that was asked for, the one that was asked for counts', async () => {
  let box: Wake | undefined;
  const { clock, locks } = scene({ wakes: 'buffered' }, () => ({
    async attempt() {
      box?.({ granted: true, token: 5n, validFor: 1_000 });
      return { granted: true, token: 9n, validFor: 1_000 };
    },
    watch(_claim, wake) {
      box = wake;
      return { [Symbol.asyncDispose]: async () => {} };
    },
  }));
  const got = locks.mutex('key').acquire();
  await clock.advance(10);
  expect((await got).token).toBe(9n);
});

test('mail that is as good as the whole lease in the moment of the attempt is a hold', async () => {
  const { clock, waiter } = waiterOf(60_000);
  await clock.advance(0);
  waiter.answers = () => expect.fail('the engine was asked again');
  waiter.mail(5n, 60_000);
  await clock.advance(1);
  expect(waiter.token).toBe(5n);
});

test('mail of which less is left than was asked for stays only a bell when the engine refuses what that rang for', async () => {
  const { clock, waiter } = waiterOf(60_000);
  await clock.advance(10);
  waiter.mail(4n, 60_000);
  await clock.advance(10);
  expect(waiter.token, 'believed a mail that the engine has contradicted').toBeUndefined();
  waiter.answers = async () => ({ granted: true, token: 9n, validFor: 60_000 });
  await clock.advance(3_000);
  expect(waiter.token).toBe(9n);
});

test('mail for a place that may just have expired when the next attempt is refused is no grant', async () => {
  const { clock, waiter } = waiterOf(60_000);
  await clock.advance(10);
  const { promise: outstanding, resolve: refuse } = Promise.withResolvers<{ granted: false }>();
  waiter.answers = () => outstanding;
  await clock.advance(5_928); // a place lasts 6 s, less a hundredth and 2 ms: so far it is surely there
  waiter.answers = waiter.refused;
  refuse({ granted: false });
  await clock.advance(0);
  waiter.mail(5n, 70_000);
  await clock.advance(10);
  expect(waiter.token, 'believed a mail from before it may have expired').toBeUndefined();
});

test('mail that the engine has contradicted stays only a bell, also where another one rings at once', async () => {
  const { clock, waiter } = waiterOf(60_000);
  await clock.advance(10);
  waiter.mail(4n, 60_000);
  await clock.advance(0);
  waiter.mail(4n, 60_000);
  await clock.advance(10);
  expect(waiter.token).toBeUndefined();
});
