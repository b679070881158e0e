import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Attempt, Backend } from '../../src/core/contract/backend.ts';
import type { Clock } from '../../src/core/contract/clock.ts';
import { LayeredOptions } from '../../src/core/contract/option-table.ts';
import { Engine } from '../../src/core/engine/engine.ts';
import { QueuedClaim } from '../../src/core/queue/claim.ts';
import { Outage } from '../../src/core/queue/pause.ts';
import { createLocks, LockError, type LockOptions } from '../../src/index.ts';
import { claim as claimOf } from './claim.ts';

const never = (): Promise<never> => new Promise(() => {});

/** One process on an engine that answers no attempt, or every one with an error. */
function outage(answer: () => Promise<never>, ttl: number) {
  const clock = manualClock(1);
  const backend = around(memory({ clock }), { attempt: answer, release: answer });
  const locks = createLocks(backend, { clock, ttl });
  const ends: { after: number; code: unknown }[] = [];
  const wait = (): void => {
    const began = clock.now();
    const ended = (code: unknown) => ends.push({ after: clock.now() - began, code });
    locks
      .mutex('key')
      .acquire()
      .then(
        () => ended('granted'),
        (error) => ended(error.code),
      );
  };
  return { clock, ends, wait };
}

test.each<[string, () => Promise<never>, number, number]>([
  ['answers nothing', never, 30_000, 15_100],
  ['answers nothing, and whose leases are short', never, 2_000, 15_100],
  ['answers everything with an error', () => Promise.reject(new Error('no route')), 30_000, 15_100],
])('every waiter of a process on an engine that %s ends within the same bound, whenever it came', async (_, answer, ttl, bound) => {
  const { clock, ends, wait } = outage(answer, ttl);
  for (let waiter = 0; waiter < 5; waiter++) wait();
  for (const pause of [3_000, 6_000, 4_900, 600, 8_000, 20_000]) {
    await clock.advance(pause);
    wait();
  }
  await clock.advance(bound);
  expect(ends.map(({ code }) => code)).toEqual(Array(11).fill('LOCK_UNAVAILABLE'));
  for (const { after } of ends) expect(after, 'ms until it was told').toBeLessThanOrEqual(bound);
});

/** A process on an engine that answers no release while `cut` is set, and attempts as `attempt` does. */
function silenceable(options: LockOptions, attempt: () => Promise<never> = never) {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const line = { cut: false };
  const backend = around(engine, {
    attempt: (claim) => (line.cut ? attempt() : engine.attempt(claim)),
    release: (...args) => (line.cut ? never() : engine.release(...args)),
  });
  return { clock, engine, line, locks: createLocks(backend, { clock, ...options }) };
}

test.each([
  6_000, 9_000, 30_000,
])('a waiter behind a release that gets no answer ends within 15 s, with a ttl of %i ms', async (ttl) => {
  const { clock, line, locks } = silenceable({ ttl, handOff: false });
  const mutex = locks.mutex('key');
  const lease = await mutex.acquire();
  line.cut = true;
  const began = clock.now();
  const waiter = mutex.acquire().catch((error) => ({ code: error.code, after: clock.now() - began }));
  void lease.release();
  await clock.advance(25_000);
  const { code, after } = (await waiter) as { code: string; after: number };
  expect(code).toBe('LOCK_UNAVAILABLE');
  expect(after, 'ms until its error').toBeLessThanOrEqual(15_100);
});

test('a waiter behind a release that was under way while its process stood still has its own ten seconds', async () => {
  const refuse = (): Promise<never> => Promise.reject(new Error('no route'));
  const { clock, line, locks } = silenceable({ ttl: 600_000, handOff: false }, refuse);
  const mutex = locks.mutex('key');
  const lease = await mutex.acquire();
  line.cut = true;
  let outcome = 'waits';
  const waiter = mutex.acquire({ wait: 200_000 });
  waiter.catch(({ code }) => {
    outcome = code;
  });
  void lease.release();
  await clock.advance(100);
  clock.suspend(60_000);
  clock.resync();
  await clock.advance(4_000);
  expect(outcome, 'after some seconds of trouble').toBe('waits');
  line.cut = false;
  await clock.advance(5_000);
  expect((await waiter).held).toBe(true);
});

test('a caller of several keys ends within 15 s of an outage, though the release of those that it has gets no answer', async () => {
  const { clock, engine, line, locks } = silenceable({});
  await createLocks(engine, { clock, ttl: '1h' }).mutex('b').acquire();
  const began = clock.now();
  const both = locks
    .all(['a', 'b'])
    .acquire()
    .catch((error) => ({ code: error.code, after: clock.now() - began }));
  await clock.advance(100);
  line.cut = true;
  await clock.advance(25_000);
  const { code, after } = (await both) as { code: string; after: number };
  expect(code).toBe('LOCK_UNAVAILABLE');
  expect(after, 'ms until its error').toBeLessThanOrEqual(15_200);
});

/** A process on an engine of which an attempt hears only an error while `cut` is set; and how many attempts there were. */
function cuttable(options: LockOptions) {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const line = { cut: false, asked: 0 };
  const backend = around(engine, {
    attempt(claim) {
      line.asked++;
      return line.cut ? Promise.reject(new Error('no route')) : engine.attempt(claim);
    },
  });
  return { clock, line, engine, locks: createLocks(backend, { clock, ...options }) };
}

test('who takes up the place of another that gave up has its own ten seconds', async () => {
  const { clock, line, locks } = cuttable({ spin: { pause: 100, bound: 100 } });
  line.cut = true;
  const hasty = expect(locks.mutex('key').acquire({ wait: 9_000 })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(8_900);
  const heir = locks.mutex('key').acquire();
  await clock.advance(5_000);
  await hasty;
  expect(line.asked, 'with pauses in between, also after ten seconds of trouble').toBeLessThan(13_900 / 50);
  line.cut = false;
  await clock.advance(2_500);
  expect((await heir).held).toBe(true);
});

test('a caller that an engine in trouble refuses takes the key from none that has it here, so that passes on', async () => {
  const { clock, line, locks } = cuttable({ handOff: { within: '1h' } });
  const mutex = locks.mutex('key');
  const first = await mutex.acquire();
  const waiting = mutex.acquire();
  await first.release();
  const holder = await waiting;
  expect(holder.token, 'passed from hand to hand').toBe(first.token + 1n);
  // It stands in the engine's line, though another caller here has the key: a search for deadlocks has to see it there.
  const refused = locks.mutex('other').run(async () => {
    line.cut = true;
    await mutex.acquire({ detect: true });
  });
  const told = expect(refused).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(16_000);
  await told;
  line.cut = false;
  line.asked = 0;
  const next = mutex.acquire();
  await clock.advance(100);
  await holder.release();
  await clock.advance(100);
  expect([(await next).token, line.asked]).toEqual([holder.token + 1n, 0]);
});

test.each<[string, number]>([
  ['while it waited for its turn', 0],
  ['again, when some requests had failed', 3_000],
])('a waiter whose process stood still for a minute %s is told nothing for as long as the engine is well seconds later', async (_, before) => {
  const { clock, line, engine, locks } = cuttable({ handOff: false });
  const others = createLocks(engine, { clock });
  const holder = await others.mutex('key').acquire({ ttl: 600_000, renew: false });
  let outcome = 'waits';
  locks
    .mutex('key')
    .acquire()
    .then(
      () => {
        outcome = 'granted';
      },
      ({ code }) => {
        outcome = code;
      },
    );
  await clock.advance(5_000);
  line.cut = true;
  await clock.advance(before);
  clock.suspend(60_000);
  clock.resync(); // the time that passed is seen at once, and no timer fired in it
  await clock.advance(4_000);
  expect(outcome, 'after some seconds of trouble').toBe('waits');
  line.cut = false;
  await clock.advance(3_000);
  await holder.release();
  await clock.advance(3_000);
  expect(outcome).toBe('granted');
});

test('a request that was on its way while its process stood still is no long trouble', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  let broken = true;
  const backend = around(engine, {
    async attempt(claim) {
      if (!broken) return engine.attempt(claim);
      await new Promise<void>((resolve) => void clock.after(1_000, resolve));
      throw new Error('the session is over');
    },
  });
  const waiting = createLocks(backend, { clock }).mutex('key').acquire();
  const outcome = waiting.then(
    () => 'granted',
    ({ code }) => code,
  );
  await clock.advance(500);
  clock.suspend(60_000);
  clock.resync();
  await clock.advance(4_000);
  broken = false;
  await clock.advance(10_000);
  expect(await outcome).toBe('granted');
});

test.each<[string, () => Error]>([
  ['that says for sure that it had no effect', () => new LockError('LOCK_UNAVAILABLE', 'it cannot save its data')],
  ['of which nobody knows what it means', () => new Error('it is being moved')],
])('after a while in which every request got an error %s, all is as before', async (_, error) => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  let ill = false;
  const asked = <T>(call: () => Promise<T>): Promise<T> => (ill ? Promise.reject(error()) : call());
  const calls: Partial<Backend> = {
    attempt: (claim) => asked(() => engine.attempt(claim)),
    renew: (claims) => asked(() => engine.renew(claims)),
    release: (handle, next) => asked(() => engine.release(handle, next)),
  };
  const locks = createLocks(around(engine, calls), { clock, ttl: 9_000 });
  const others = createLocks(engine, { clock, ttl: 60_000, handOff: false });
  const kept = await locks.mutex('kept').acquire();
  const short = await locks.mutex('released').acquire({ ttl: 60_000 });
  const once = await locks.mutex('once').acquire({ ttl: 60_000, minHold: 1_000 });
  const holder = await others.mutex('awaited').acquire();
  const waiting = locks.mutex('awaited').acquire();
  const outcome = waiting.then(
    () => 'granted',
    ({ code }) => code as string,
  );
  await clock.advance(100);
  ill = true;
  expect(await short.release(), 'a release that was refused').toBe(false);
  await once.release();
  await clock.advance(4_000);
  ill = false;
  await clock.advance(3_000);
  expect(kept.held, 'a hold that could not be renewed meanwhile').toBe(true);
  for (const key of ['released', 'once']) {
    expect(await others.mutex(key).tryAcquire(), `${key}, long before its lease is over`).not.toBeNull();
  }
  await holder.release();
  await clock.advance(2_500);
  // Who is told for sure ends at once; who is not goes on, and keeps its place.
  expect(await outcome).toBe(error() instanceof LockError ? 'LOCK_UNAVAILABLE' : 'granted');
  if ((await outcome) === 'granted') await (await waiting).release();
  await kept.release();
  await clock.advance(5_000);
  for await (const { key } of engine.inspect!('')) expect(['released', 'once'], 'left behind').toContain(key);
});

test('no waiter is ended by the first request of an outage, since its process may have stood still', () => {
  const error = new Error('no route');
  const outage = new Outage(5, undefined);
  outage.noteError(error, 0);
  expect(outage.last).toBe(error);
  expect(outage.exceeds(0, 5, 20_000), 'the first one').toBe(false);
  expect(outage.exceeds(0, 6, 10_005), 'within ten seconds').toBe(false);
  expect(outage.exceeds(0, 6, 10_006)).toBe(true);
});

test('a waiter has ten seconds from the last answer, or from when it came', () => {
  const outage = new Outage(1_000, undefined);
  expect([outage.limit(300), outage.limit(2_000)]).toEqual([11_000, 12_000]);
});

describe('the reason why a claim heard nothing', () => {
  /** A claim on an engine that the test answers for, and what its attempts came to. */
  function scene() {
    const clock = manualClock(1);
    const memoryEngine = memory({ clock });
    let answer: Backend['attempt'] = (claim) => memoryEngine.attempt(claim);
    const engine = new Engine(around(memoryEngine, { attempt: (claim) => answer(claim) }), clock);
    const { terms } = new LayeredOptions(memoryEngine.traits, { wait: 60_000 });
    const claim = { ...claimOf('ours'), origin: { process: 'ours', claim: 1, inside: [], cut: false }, within: 5_000 };
    const asked = new QueuedClaim(engine, claim, terms);
    const fails = (error: Error): void => {
      answer = () => Promise.reject(error);
    };
    const answers = (): void => {
      answer = (sent) => memoryEngine.attempt(sent);
    };
    /** Lets the record of the claim receive an answer, as the loop of the claim does. */
    const receives = async (coming: Promise<Attempt | undefined>): Promise<void> => {
      asked.record.receive(await coming, undefined, clock.now());
    };
    const asks = (): Promise<void> => receives(asked.ask(0));
    return { clock, asked, asks, receives, fails, answers };
  }

  test('is that nothing was answered so far, unless it asked after that moment', () => {
    const { clock, asked } = scene();
    const made = clock.now();
    void asked.ask(0);
    expect(asked.record.silence(made)).toMatchObject({ message: 'no request was answered so far' });
    expect(asked.record.silence(made - 1)).toBeUndefined();
  });

  test('is what went wrong last, until something is answered', async () => {
    const { clock, asked, asks, fails } = scene();
    await asks();
    expect(asked.record.silence(clock.now()), 'it was answered').toBeUndefined();
    await clock.advance(100);
    const answered = clock.now() - 100;
    for (const wrong of [new Error('no route'), new Error('still no route')]) {
      fails(wrong);
      await asks();
      expect([asked.record.silence(0), asked.record.outage?.limit(0)]).toEqual([wrong, answered + 10_000]);
      await clock.advance(50);
    }
  });

  test.each<[string, (asked: QueuedClaim, clock: Clock) => Promise<Attempt | undefined>]>([
    ['an attempt is answered', (asked) => asked.ask(0)],
    [
      'it is answered with a release',
      (asked, clock) => asked.record.answerOf({ sent: 1, attempt: Promise.resolve({ granted: false }) }, clock),
    ],
  ])('is no more what went wrong when %s, and the ten seconds count anew', async (_, answered) => {
    const { clock, asked, asks, receives, fails, answers } = scene();
    fails(new Error('no route'));
    await asks();
    answers();
    await clock.advance(9_000);
    await receives(answered(asked, clock));
    expect([asked.record.silence(clock.now()), asked.record.outage]).toEqual([undefined, undefined]);
  });
});

test('in an outage a pause ends when the last attempt is due, and after that it is as short as can be', () => {
  const outage = new Outage(0, undefined);
  expect([9_000, 9_950, 10_000, 11_000].map((now) => outage.limited(100, 0, now))).toEqual([100, 50, 1, 1]);
});

test('at the very end of the ten seconds all callers of the process are told, with the one that asks', async () => {
  const clock = manualClock();
  const attempt = (): Promise<never> =>
    Promise.reject(clock.now() < 10_000 ? new Error('cut') : new LockError('LOCK_UNAVAILABLE', 'no room'));
  const backend = around(memory({ clock }), { attempt });
  const mutex = createLocks(backend, { clock, spin: { pause: 100, bound: 100, jitter: 0 } }).mutex('key');
  const told: unknown[] = [];
  for (let i = 0; i < 3; i++) mutex.acquire().catch(({ code }) => told.push(code));
  await clock.advance(9_999);
  expect(told).toEqual([]);
  await clock.advance(1);
  expect(told).toEqual(Array(3).fill('LOCK_UNAVAILABLE'));
});
