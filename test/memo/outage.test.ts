/** What callers of memos are told when the engine stands still, and when. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { channels } from '../../src/core/contract/events.ts';
import { createLocks, LockError } from '../../src/index.ts';
import { heard } from '../core/heard.ts';
import { loaded } from './loaded.ts';

/** The longest that a waiter waits for an engine that stands still, ms. */
const PROMISED = 15_000;

/** An engine that may stand still: requests that are sent then are never carried out. */
async function setup() {
  const clock = manualClock();
  const engine = memory({ clock });
  let still = false;
  const unless =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      still ? new Promise(() => {}) : call(...args);
  const far = around(engine, {
    attempt: unless((claim) => engine.attempt(claim)),
    renew: unless((claims) => engine.renew(claims)),
    release: unless((...args) => engine.release(...args)),
    store: unless((...args) => engine.store!(...args)),
    values: { forget: unless((key) => engine.values!.forget(key)), look: unless((key) => engine.values!.look(key)) },
  });
  const locks = await loaded(createLocks(far, { clock, ttl: 45_000 }));
  const stand = (how: boolean): void => {
    still = how;
  };
  return { clock, engine, locks, stand };
}

type Clock = Awaited<ReturnType<typeof setup>>['clock'];

/** How a call ended, and after how many ms; undefined while it has not. */
function timed(clock: Clock, call: Promise<{ value: unknown; kept: unknown }>) {
  const began = clock.now();
  const end: { how?: unknown; after?: number } = {};
  const note = (how: unknown): void => {
    Object.assign(end, { how, after: clock.now() - began });
  };
  call.then(
    ({ value, kept }) => note({ value, kept }),
    ({ code }) => note(code),
  );
  return end;
}

test.each([
  '1h',
  0,
] as const)('whoever runs when the engine stands still has its value soon, and whoever waits is told so (keep %s)', async (keep) => {
  const { clock, engine, locks, stand } = await setup();
  const memo = locks.memo<string>('key', { keep });
  const work = Promise.withResolvers<string>();
  void memo.run(() => work.promise).catch(() => {});
  await clock.advance(10);
  const running = timed(
    clock,
    memo.run(() => 'again'),
  );
  await clock.advance(20_000);
  stand(true);
  work.resolve('made');
  const beside = timed(
    clock,
    memo.run(() => 'again'),
  );
  await clock.advance(6_000);
  const later = timed(
    clock,
    memo.run(() => 'again'),
  );
  await clock.advance(30_000);
  expect(running.how).toBe('LOCK_UNAVAILABLE');
  expect(running.after).toBeLessThanOrEqual(20_000 + PROMISED);
  for (const each of [beside, later]) {
    expect(each.how).toBe('LOCK_UNAVAILABLE');
    expect(each.after).toBeGreaterThanOrEqual(9_000);
    expect(each.after).toBeLessThanOrEqual(PROMISED);
  }
  expect((await engine.values!.look('key')).value).toBeUndefined();
});

test('where the engine stands still when a run fails, and the error is kept, whoever has waited for long is told so soon', async () => {
  const { clock, locks, stand } = await setup();
  const memo = locks.memo<string>('key', { keep: '1h', keepError: () => '1h' });
  const work = Promise.withResolvers<string>();
  void memo.run(() => work.promise).catch(() => {});
  await clock.advance(20_000);
  const beside = timed(
    clock,
    memo.run(() => 'again'),
  );
  await clock.advance(10_000);
  stand(true);
  work.reject(new Error('no'));
  await clock.advance(60_000);
  expect(beside.how).toBe('LOCK_UNAVAILABLE');
  expect(beside.after).toBeLessThanOrEqual(10_000 + PROMISED);
});

test('where the engine stands still when all attempts turn out to be used up, whoever has waited for long is told so soon', async () => {
  const { clock, engine, locks, stand } = await setup();
  const options = { keep: '1h', attempts: 1 } as const;
  void createLocks(engine, { clock })
    .memo('key', options)
    .run(() => new Promise(() => {}));
  await clock.advance(10);
  const waits = [1, 2].map(() =>
    timed(
      clock,
      locks.memo<string>('key', options).run(() => 'again'),
    ),
  );
  await clock.advance(20_000);
  const stop = (): void => stand(true);
  channels.acquired.subscribe(stop);
  for await (const { held, token } of engine.inspect!('key')) if (held) await engine.evict!('key', token);
  await clock.advance(60_000);
  channels.acquired.unsubscribe(stop);
  for (const { how, after } of waits) {
    expect(how).toBe('LOCK_UNAVAILABLE');
    expect(after).toBeLessThanOrEqual(20_000 + PROMISED);
  }
});

test('a wait as long as the engine may take for a look has its end there', async () => {
  const { clock, locks, stand } = await setup();
  stand(true);
  const call = locks.memo<string>('key', { keep: '1h' }).run(() => 'made', { wait: 5_000 });
  const end = timed(clock, call);
  await clock.advance(4_999);
  expect(end).toEqual({});
  await clock.advance(1);
  expect(end).toEqual({ how: 'LOCK_UNAVAILABLE', after: 5_000 });
});

test('the runner has its value, and the release goes on: once the engine answers, the result is there', async () => {
  const { clock, engine, locks, stand } = await setup();
  const memo = locks.memo<string>('key', { keep: '1h' });
  const work = Promise.withResolvers<string>();
  const end = timed(
    clock,
    memo.run(() => work.promise),
  );
  await clock.advance(10);
  stand(true);
  work.resolve('made');
  await clock.advance(PROMISED);
  expect(end).toMatchObject({ how: { value: 'made', kept: 'unknown' } });
  stand(false);
  using events = heard('left');
  await clock.advance(6_000);
  expect((await engine.values!.look('key')).value?.text).toContain('made');
  expect(events.names).toEqual(['left']);
  expect(await memo.run(() => 'again')).toMatchObject({ value: 'made', ran: false });
});

test.each([
  '1h',
  1,
] as const)('a caller whose look is not answered waits no longer for its claim (keep %s)', async (keep) => {
  const { clock, locks, stand } = await setup();
  stand(true);
  const ends = [{}, { wait: 3_600_000 }].map((how) =>
    timed(
      clock,
      locks.memo<string>('key', { keep }).run(() => 'made', how),
    ),
  );
  await clock.advance(30_000);
  for (const end of ends) {
    expect(end.how).toBe('LOCK_UNAVAILABLE');
    expect(end.after).toBeLessThanOrEqual(PROMISED);
  }
});

test.each([
  '1h',
  0,
] as const)('a caller that does not wait, and joins a run that the engine has never answered, gets LOCK_UNAVAILABLE (keep %s)', async (keep) => {
  const { clock, locks, stand } = await setup();
  stand(true);
  const run = (how: { wait?: number }) =>
    timed(
      clock,
      locks.memo<string>('key', { keep }).run(() => 'made', how),
    );
  const patient = run({});
  await clock.advance(6_000);
  const ends = [{ wait: 0 }, { wait: 1_000 }].map(run);
  await clock.advance(1_000);
  expect(patient, 'it still waits').toEqual({});
  expect(ends).toMatchObject([0, 1_000].map((after) => ({ how: 'LOCK_UNAVAILABLE', after })));
});

test('a caller with patience does not fail with one that does not wait', async () => {
  const { clock, locks, stand } = await setup();
  stand(true);
  const memo = locks.memo<string>('key');
  const hasty = timed(
    clock,
    memo.run(() => 'made', { wait: 0 }),
  );
  const patient = timed(
    clock,
    memo.run(() => 'made'),
  );
  await clock.advance(6_000);
  expect(hasty).toMatchObject({ how: 'LOCK_UNAVAILABLE' });
  expect(patient).toEqual({});
  stand(false);
  await clock.advance(6_000);
  expect(patient).toMatchObject({ how: { value: 'made', kept: true } });
});

test('of callers that come one after the other each waits as long as was promised, and no longer', async () => {
  const { clock, locks, stand } = await setup();
  stand(true);
  const memo = locks.memo<string>('key');
  const ends: ReturnType<typeof timed>[] = [];
  for (let n = 0; n < 12; n++) {
    ends.push(
      timed(
        clock,
        memo.run(() => 'made'),
      ),
    );
    await clock.advance(2_000);
  }
  await clock.advance(20_000);
  for (const { how, after } of ends) {
    expect(how).toBe('LOCK_UNAVAILABLE');
    expect(after).toBeGreaterThanOrEqual(9_000);
    expect(after).toBeLessThanOrEqual(PROMISED + 500);
  }
});

test('a caller whose look was not answered, and whose claim was, waits for as long as a run takes', async () => {
  const { clock, engine, locks, stand } = await setup();
  const work = Promise.withResolvers<string>();
  void createLocks(engine, { clock })
    .memo<string>('key', { keep: '1h' })
    .run(() => work.promise);
  await clock.advance(10);
  stand(true);
  const end = timed(
    clock,
    locks.memo<string>('key', { keep: '1h' }).run(() => 'again'),
  );
  await clock.advance(6_000);
  stand(false);
  await clock.advance(60_000);
  expect(end).toEqual({});
  work.resolve('made');
  await clock.advance(1_000);
  expect(end).toMatchObject({ how: { value: 'made', kept: true } });
});

test('where the engine says itself that it cannot be asked, a caller that does not wait is told its words', async () => {
  const clock = manualClock();
  const full = new LockError('LOCK_UNAVAILABLE', 'the engine has no room');
  const locks = createLocks(around(memory({ clock }), { attempt: () => Promise.reject(full) }), { clock });
  await expect(locks.memo('key').run(() => 1, { wait: 0 })).rejects.toThrow('the engine has no room');
});

test('whoever holds a lock, and asks for another request than the one that runs here, is told so without the engine', async () => {
  const { clock, locks, stand } = await setup();
  void locks.memo('key', { match: 1 }).run(() => new Promise(() => {}));
  await clock.advance(0);
  await locks.mutex('lock').run(async () => {
    stand(true);
    const end = timed(
      clock,
      locks.memo('key', { match: 2 }).run(() => 2),
    );
    await clock.advance(0);
    stand(false);
    expect(end).toEqual({ how: 'LOCK_MISMATCH', after: 0 });
  });
});

test('where the engine refuses for good, all callers of a process are told so after one attempt', async () => {
  const clock = manualClock();
  let attempts = 0;
  const refusal = new LockError('LOCK_UNSUPPORTED', 'no permission');
  const attempt = (): Promise<never> => {
    attempts++;
    return Promise.reject(refusal);
  };
  const locks = await loaded(createLocks(around(memory({ clock }), { attempt }), { clock }));
  const memo = locks.memo('key');
  const calls = [1, 2, 3].map(() => memo.run(() => 1));
  for (const call of calls) await expect(call).rejects.toBe(refusal);
  expect(attempts).toBe(1);
});

test('when the engine has not answered a caller, those are told so that have waited for ten seconds by then, and no others', async () => {
  const { clock, locks, stand } = await setup();
  stand(true);
  const memo = locks.memo<string>('key');
  const call = () =>
    timed(
      clock,
      memo.run(() => 'made'),
    );
  call();
  await clock.advance(4_999);
  const asks = call();
  await clock.advance(5_000);
  const long = call();
  await clock.advance(1);
  const shorter = call();
  await clock.advance(30_000);
  expect(asks, 'until its last request must be over').toEqual({ how: 'LOCK_UNAVAILABLE', after: 15_000 });
  expect(long).toEqual({ how: 'LOCK_UNAVAILABLE', after: 10_000 });
  expect(shorter).toEqual({ how: 'LOCK_UNAVAILABLE', after: 15_000 });
});

test('while the engine answers, a caller of a memo needs no more timers than one of a lock, also if it came as the last one gave up', async () => {
  const { clock, engine, locks } = await setup();
  const others = createLocks(engine, { clock });
  const timersOf = async (key: string, begin: () => unknown): Promise<number> => {
    await others.mutex(key).acquire();
    const before = clock.pending;
    begin();
    await clock.advance(30);
    return clock.pending - before;
  };
  const ofLock = (key: string) => timersOf(key, () => locks.mutex(key).acquire({ wait: 'forever' }));
  await ofLock('a first one');
  const needs = await ofLock('lock');
  expect(await timersOf('memo', () => locks.memo('memo').run(() => 1))).toBe(needs);
  const comesAsOneLeaves = (): void => {
    const leaves = new AbortController();
    const memo = locks.memo('another');
    memo.run(() => 1, { signal: leaves.signal }).catch(() => {});
    clock.after(10, () => {
      leaves.abort();
      void memo.run(() => 1);
    });
  };
  expect(await timersOf('another', comesAsOneLeaves)).toBe(needs);
});
