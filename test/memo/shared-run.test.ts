/** How the callers of one process share a claim. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { channels } from '../../src/core/contract/events.ts';
import { createLocks, type MemoOptions, type MemoResult, type MemoRun } from '../../src/index.ts';
import { heard } from '../core/heard.ts';
import { standing } from './standing.ts';

/** Processes over one engine whose looks and attempts are counted. */
function counted() {
  const clock = manualClock();
  const engine = memory({ clock });
  const looks = { count: 0 };
  const attempts = { count: 0 };
  const way = around(engine, {
    attempt: (claim) => {
      attempts.count++;
      return engine.attempt(claim);
    },
    values: {
      forget: (key) => engine.values!.forget(key),
      look: (key) => {
        looks.count++;
        return engine.values!.look(key);
      },
    },
  });
  const locks = Array.from({ length: 2 }, () => createLocks(way, { clock, ttl: 3_000 }));
  return { clock, engine, looks, attempts, locks: locks as [(typeof locks)[0], (typeof locks)[0]] };
}

test('many callers of a process look once, and where nothing is kept never', async () => {
  const { clock, looks, locks } = counted();
  const memo = locks[0].memo('kept', { keep: '1h' });
  const fails = memo.run(() => Promise.reject(new Error('no')));
  fails.catch(() => {});
  const others = [1, 2, 3].map(() => memo.run(() => 'made'));
  await clock.advance(10);
  await expect(fails).rejects.toThrow('no');
  expect((await Promise.all(others)).map(({ value, ran, kept }) => ({ value, ran, kept }))).toEqual([
    { value: 'made', ran: true, kept: true },
    { value: 'made', ran: false, kept: true },
    { value: 'made', ran: false, kept: true },
  ]);
  expect(looks.count).toBe(1);
  await locks[0].memo('for those who wait').run(() => 1);
  expect(looks.count).toBe(1);
});

test('once memos are loaded, the engine is asked in the turn of the call', async () => {
  const { looks, locks } = counted();
  const memo = locks[0].memo('key', { keep: '1h' });
  await memo.run(() => 1);
  const before = looks.count;
  const call = memo.run(() => 2);
  expect(looks.count - before).toBe(1);
  expect(await call).toMatchObject({ value: 1, ran: false });
});

test('a result that is kept for 1 ms is looked for', async () => {
  const { looks, locks } = counted();
  await locks[0].memo('key', { keep: 1 }).run(() => 1);
  expect(looks.count).toBe(1);
});

test('a result that is there is had by all callers of the process, and none stands in line', async () => {
  const { clock, engine, locks } = counted();
  await locks[0].memo('key', { keep: '1h' }).run(() => 'first');
  const { attempt } = engine;
  let attempts = 0;
  const other = createLocks(
    around(engine, {
      attempt: (claim) => {
        attempts++;
        return attempt.call(engine, claim);
      },
    }),
    { clock },
  );
  const memo = other.memo<string>('key', { keep: '1h' });
  const all = [1, 2, 3].map(() => memo.run(() => 'again'));
  await clock.advance(0);
  expect((await Promise.all(all)).map(({ value, ran }) => `${value} ${ran}`)).toEqual(Array(3).fill('first false'));
  expect(attempts).toBe(0);
});

/** Lets so many turns of the promises pass. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await Promise.resolve();
}

test('a caller that comes at any turn while others get what is kept looks, and stands in no line', async () => {
  const { attempts, locks } = counted();
  await locks[0].memo('key', { keep: '1h' }).run(() => 'kept');
  const before = attempts.count;
  const reader = locks[1].memo<string>('key', { keep: '1h' });
  for (let at = 0; at < 30; at++) {
    const first = reader.run(() => 'again');
    await turns(at);
    expect(await reader.run(() => 'again', { wait: 0 })).toMatchObject({ value: 'kept', ran: false });
    expect(await first).toMatchObject({ value: 'kept', ran: false });
  }
  expect(attempts.count - before).toBe(0);
});

test.each([
  ['has its result', { keep: '1h' }, false],
  ['has its result, which nobody keeps', {}, false],
  ['has its error', { keep: '1h' }, true],
] as const)('a caller that does not wait, and comes at any turn after a runner %s, has one too', async (_, options, fails) => {
  const { locks } = counted();
  await locks[0].memo('loaded').run(() => 1);
  for (let at = 0; at < 30; at++) {
    const memo = locks[0].memo<string>(`key ${at}`, options);
    const next = async (): Promise<MemoResult<string>> => {
      // Not one turn later than that: an await would be one.
      if (at > 0) await turns(at);
      return memo.run(() => 'made', { wait: 0 });
    };
    const after = memo.run(() => (fails ? Promise.reject(new Error('no')) : 'made')).then(next, next);
    expect(await after, `${at} turns later`).toMatchObject({ value: 'made' });
  }
});

test.each([
  ['kept', { keep: '1h', keepError: () => '1h' }, 'LOCK_FAILED'],
  ['the last one', { keep: '1h', attempts: 1 }, 'LOCK_POISONED'],
] as const)('a caller that does not wait, and comes at any turn after others were told an error that is %s, is told so, too', async (_, options, code) => {
  const { locks } = counted();
  await locks[0].memo('loaded').run(() => 1);
  for (let at = 0; at < 30; at++) {
    const memo = locks[0].memo<string>(`key ${at}`, options as MemoOptions<string>);
    const next = async (): Promise<unknown> => {
      if (at > 0) await turns(at);
      return memo.run(() => 'made', { wait: 0 }).catch((error) => error.code);
    };
    const calls = [1, 2].map(() => memo.run(() => Promise.reject(new Error('no'))).catch(next));
    expect(await Promise.all(calls), `${at} turns later`).toEqual([code, code]);
  }
});

test('callers that come at any turn after an error share one run', async () => {
  const { locks } = counted();
  await locks[0].memo('loaded').run(() => 1);
  using waits = heard('waiting');
  for (let at = 0; at < 12; at++) {
    const memo = locks[0].memo<string>(`key ${at}`);
    const { promise, resolve } = Promise.withResolvers<string>();
    const both = memo
      .run(() => Promise.reject(new Error('no')))
      .catch(async () => {
        if (at > 0) await turns(at);
        const first = memo.run(() => promise);
        await turns(12);
        return [first, memo.run(() => 'made by another')];
      });
    const calls = (await both) as readonly Promise<MemoResult<string>>[];
    resolve('made again');
    expect(await Promise.all(calls), `${at} turns later`).toMatchObject([
      { value: 'made again', ran: true },
      { value: 'made again', ran: false },
    ]);
  }
  expect(waits.names).toEqual([]);
});

test('a result that is older than refresh is due', async () => {
  const { clock, locks } = counted();
  const memo = locks[0].memo<number>('key', { keep: '1h', refresh: 100 });
  await memo.run(() => 1);
  await clock.advance(99);
  expect((await memo.run(() => 2)).value).toBe(1);
  await clock.advance(2);
  expect((await memo.run(() => 2)).value).toBe(2);
});

test('a result that is not due is had by the first caller, too, and nothing runs', async () => {
  const { locks } = counted();
  const memo = locks[0].memo<number>('key', { keep: '1h', refresh: '1m' });
  await memo.run(() => 1);
  let runs = 0;
  const all = await Promise.all([1, 2].map(() => memo.run(() => ++runs + 10)));
  expect({ values: all.map(({ value }) => value), runs }).toEqual({ values: [1, 1], runs: 0 });
});

test('of those that come together when a result is due one makes a new one, and the others do not wait for it', async () => {
  const { clock, locks } = counted();
  const memo = locks[0].memo<number>('key', { keep: '1h', refresh: '1m' });
  await memo.run(() => 1);
  await clock.advance(61_000);
  const { promise, resolve } = Promise.withResolvers<number>();
  const [refreshing, ...others] = [1, 2, 3].map(() => memo.run(() => promise));
  await clock.advance(0);
  const had = await Promise.race([Promise.all(others), clock.advance(1_000).then(() => 'nothing yet')]);
  expect(had).toMatchObject([
    { value: 1, ran: false },
    { value: 1, ran: false },
  ]);
  resolve(2);
  expect(await refreshing).toMatchObject({ value: 2, ran: true });
});

test('while a new result is made, a caller here looks for the old one, as it does elsewhere', async () => {
  const { clock, engine, looks, attempts, locks } = counted();
  const options = { keep: '1h', refresh: '1m' } as const;
  await locks[1].memo<number>('key', options).run(() => 1);
  await clock.advance(61_000);
  const memo = locks[0].memo<number>('key', options);
  const { promise, resolve } = Promise.withResolvers<number>();
  const refreshing = memo.run(() => promise);
  await clock.advance(0);
  const before = looks.count;
  const asked = attempts.count;
  for (let call = 0; call < 3; call++)
    expect(await memo.run(() => 2), `call ${call}`).toMatchObject({ value: 1, ran: false });
  expect(looks.count - before).toBe(3);
  expect(attempts.count, 'attempts').toBe(asked);
  expect(await standing(engine, 'key'), 'one claim').toHaveLength(1);
  resolve(2);
  expect(await refreshing).toMatchObject({ value: 2, ran: true });
});

test('a caller that comes while a result is made asks the engine nothing', async () => {
  const { clock, looks, locks } = counted();
  const memo = locks[0].memo<number>('key', { keep: '1h' });
  const { promise, resolve } = Promise.withResolvers<number>();
  const first = memo.run(() => promise);
  await clock.advance(0);
  const later = memo.run(() => 2);
  await clock.advance(0);
  expect(looks.count).toBe(1);
  resolve(1);
  expect(await first).toMatchObject({ value: 1, ran: true });
  expect(await later).toMatchObject({ value: 1, ran: false });
});

test('a caller whose refresh is refused, since another process is at it, has the old result after one attempt', async () => {
  const { clock, attempts, locks } = counted();
  const options = { keep: '1h', refresh: '1m' } as const;
  await locks[0].memo<number>('key', options).run(() => 1);
  await clock.advance(61_000);
  const { promise, resolve } = Promise.withResolvers<number>();
  const refresh = locks[0].memo<number>('key', options).run(() => promise);
  await clock.advance(0);
  const before = attempts.count;
  expect(await locks[1].memo<number>('key', options).run(() => 3)).toMatchObject({ value: 1, ran: false });
  expect(attempts.count - before).toBe(1);
  resolve(2);
  expect(await refresh).toMatchObject({ value: 2, ran: true });
});

test('a refresh that rests costs a look, and no attempt', async () => {
  const { clock, attempts, locks } = counted();
  const memo = locks[0].memo<number>('key', { keep: '1h', refresh: '1m', attempts: 1 });
  await memo.run(() => 1);
  await clock.advance(61_000);
  const { promise, reject } = Promise.withResolvers<never>();
  const failing = memo.run(() => promise);
  reject(new Error('no'));
  expect(await failing).toMatchObject({ value: 1, ran: false });
  const before = attempts.count;
  expect(await memo.run(() => 2)).toMatchObject({ value: 1, ran: false });
  expect(attempts.count).toBe(before);
});

test('a run tells its key, its token, whether it holds, and for how long; as JSON, too', async () => {
  const { locks } = counted();
  await locks[0].memo('key').run((run) => {
    expect(run.key).toBe('key');
    expect(typeof run.token).toBe('bigint');
    expect(run.held).toBe(true);
    expect(run.remaining).toBeGreaterThan(2_000);
    expect(() => run.assertHeld()).not.toThrow();
    expect(JSON.parse(JSON.stringify(run))).toEqual({
      key: 'key',
      token: `${run.token}`,
      held: true,
      remaining: run.remaining,
    });
  });
});

test('a run that lost its lease is told so, with the reason', async () => {
  const { clock, locks } = counted();
  const { promise, resolve } = Promise.withResolvers<void>();
  let own!: MemoRun;
  const call = locks[0].memo('key', { keep: '1h' }).run(async (run) => {
    own = run;
    await promise;
  });
  await clock.advance(0);
  expect(own.signal.aborted).toBe(false);
  await locks[1].forceRelease('key', { reason: 'tried' });
  await clock.advance(3_000);
  expect(own.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
  expect(own.held).toBe(false);
  expect(() => own.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_LOST' }));
  resolve();
  expect(await call).toMatchObject({ kept: false, error: { code: 'LOCK_LOST' } });
});

test('locks that are closed in the moment of a grant run nothing, and leave the key free', async () => {
  const { clock, engine, locks } = counted();
  await locks[0].memo('loaded').run(() => 1);
  const close = (): void => void locks[0].close();
  channels.acquired.subscribe(close);
  const call = locks[0].memo('key', { keep: '1h' }).run(() => expect.fail('it ran'));
  const told = expect(call).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  await clock.advance(10);
  channels.acquired.unsubscribe(close);
  await told;
  expect(await standing(engine, 'key')).toEqual([]);
});

test('the signal of a run that is over tells nothing more', async () => {
  const { clock, locks } = counted();
  let own!: MemoRun;
  await locks[0].memo('key').run((run) => {
    own = run;
  });
  await clock.advance(10_000);
  await locks[0].close();
  expect(own.signal.aborted).toBe(false);
});

test('the key is free when a caller has its error', async () => {
  const { clock, engine, locks } = counted();
  const call = locks[0].memo('key').run(() => Promise.reject(new Error('no')));
  const free = call.catch(() => standing(engine, 'key'));
  await clock.advance(0);
  expect(await free).toEqual([]);
});

test('a grant for which nobody waits any more is given back', async () => {
  const { clock, engine, locks } = counted();
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = createLocks(
    around(engine, {
      attempt: async (claim) => {
        await promise;
        return engine.attempt(claim);
      },
    }),
    { clock, ttl: 3_000 },
  );
  const call = slow.memo('key').run(() => 1, { wait: 30 });
  call.catch(() => {});
  await clock.advance(31);
  await expect(call).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  resolve();
  await clock.advance(100);
  expect(await standing(engine, 'key')).toEqual([]);
  expect((await locks[0].memo('key').run(() => 2)).value).toBe(2);
});

test('a run whose function has returned is over, and says that it was given back', async () => {
  const { locks } = counted();
  let own!: MemoRun;
  await locks[0].memo('key', { keep: '1h' }).run((run) => {
    own = run;
  });
  expect([own.held, own.remaining]).toEqual([false, 0]);
  expect(() => own.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_NOT_HELD' }));
});

test('a run of which its end finds that its lease was lost is told so, with the reason', async () => {
  const { clock, locks } = counted();
  let own!: MemoRun;
  const call = locks[0].memo('key', { keep: '1h' }).run((run) => {
    own = run;
    clock.suspend(10_000);
    clock.resync();
  });
  expect(await call).toMatchObject({ kept: false, error: { code: 'LOCK_LOST' } });
  expect(own.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
});
