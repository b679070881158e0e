import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { LockEvent } from '../../src/core/contract/events.ts';
import { createLocks, type Memo, type MemoOptions } from '../../src/index.ts';
import { heard } from '../core/heard.ts';

/** Processes over one engine, on one clock that the test moves. */
function processes(count = 2) {
  const clock = manualClock();
  const engine = memory({ clock });
  return {
    clock,
    engine,
    locks: Array.from({ length: count }, (_, n) => createLocks(engine, { clock, ttl: 3_000, label: `p${n}` })),
  };
}

/** Work that ends when the test says so. */
function work<T>() {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const runs = { count: 0 };
  const fn = (): Promise<T> => {
    runs.count++;
    return promise;
  };
  return { fn, runs, resolve, reject };
}

test('of all callers of all processes one runs, and everybody has its result', async () => {
  const { clock, locks } = processes(3);
  const { fn, runs, resolve } = work<{ n: number }>();
  const calls = locks.flatMap((each) =>
    Array.from({ length: 5 }, () => each.memo<{ n: number }>('key', { keep: '1h' }).run(fn)),
  );
  await clock.advance(100);
  resolve({ n: 1 });
  await clock.advance(100);
  const results = await Promise.all(calls);
  expect(runs.count).toBe(1);
  expect(results.map(({ value }) => value)).toEqual(results.map(() => ({ n: 1 })));
  expect(results.filter(({ ran }) => ran)).toHaveLength(1);
  expect(new Set(results.map(({ token }) => token)).size).toBe(1);
  expect(new Set(results.map(({ value }) => value)).size, 'values of their own').toBe(15);
  const later = await locks[2]!.memo('key', { keep: '1h' }).run(() => Promise.reject(new Error('ran again')));
  expect(later).toMatchObject({ value: { n: 1 }, ran: false, kept: true });
});

test('a result that is kept for nobody but those who wait is made anew for the next', async () => {
  const { clock, locks } = processes();
  const first = work<number>();
  const calls = locks.map((each) => each.memo<number>('key').run(first.fn));
  await clock.advance(100);
  first.resolve(1);
  await clock.advance(100);
  expect((await Promise.all(calls)).map(({ value }) => value)).toEqual([1, 1]);
  const next = locks[1]!.memo<number>('key').run(() => 2);
  await clock.advance(10);
  expect(await next).toMatchObject({ value: 2, ran: true });
});

test('a result is over after keep', async () => {
  const { clock, locks } = processes();
  const memo = locks[0]!.memo<number>('key', { keep: '1m' });
  await memo.run(() => 1);
  await clock.advance(59_000);
  expect((await memo.run(() => 2)).value).toBe(1);
  await clock.advance(2_000);
  expect((await memo.run(() => 2)).value).toBe(2);
});

test('after an error the next in line runs, and the runner has its own error', async () => {
  const { clock, locks } = processes();
  const first = work<number>();
  const failing = locks[0]!.memo<number>('key', { keep: '1h' }).run(first.fn);
  const caught = failing.catch((error: Error) => error.message);
  await clock.advance(10);
  const waiting = locks[1]!.memo<number>('key', { keep: '1h' }).run(() => 2);
  const beside = locks[0]!.memo<number>('key', { keep: '1h' }).run(() => 3);
  await clock.advance(10);
  first.reject(new Error('no'));
  await clock.advance(50);
  expect(await caught).toBe('no');
  expect(await waiting).toMatchObject({ value: 2, ran: true });
  expect(await beside).toMatchObject({ value: 2, ran: false });
});

test('an error that is kept is told to all, and nobody runs again', async () => {
  const { locks } = processes();
  const options: MemoOptions<number> = {
    keep: '1h',
    keepError: (error) => (error as Error).name === 'Declined' && '1h',
  };
  const declined = Object.assign(new Error('no money'), { name: 'Declined', code: 'E1' });
  await expect(locks[0]!.memo('key', options).run(() => Promise.reject(declined))).rejects.toBe(declined);
  const again = locks[1]!.memo('key', options).run(() => 1);
  await expect(again).rejects.toMatchObject({
    code: 'LOCK_FAILED',
    cause: { name: 'Declined', message: 'no money', code: 'E1' },
  });
  expect((await locks[1]!.memo('key', options).peek()).state).toBe('failed');
});

test('another request under the same key is a mismatch, also while the first one runs', async () => {
  const { clock, locks } = processes();
  const first = work<number>();
  const [mine, other] = [
    { a: 1, b: [2] },
    { a: 2, b: [2] },
  ];
  const running = locks[0]!.memo<number>('key', { keep: '1h', match: mine }).run(first.fn);
  await clock.advance(10);
  for (const each of locks) {
    const refused = each.memo<number>('key', { keep: '1h', match: other }).run(() => 2);
    await expect(refused, 'while it runs').rejects.toMatchObject({
      code: 'LOCK_MISMATCH',
      key: 'key',
      backend: 'memory',
    });
    const look = each.memo('key', { match: other }).peek();
    await expect(look, 'a look while it runs').rejects.toMatchObject({ code: 'LOCK_MISMATCH', key: 'key' });
  }
  expect(await locks[1]!.memo('key', { match: mine }).peek()).toMatchObject({ state: 'running' });
  first.resolve(1);
  await clock.advance(10);
  await running;
  await expect(locks[1]!.memo('key', { keep: '1h', match: other }).run(() => 2)).rejects.toMatchObject({
    code: 'LOCK_MISMATCH',
  });
  const look = locks[1]!.memo('key', { match: other }).peek();
  await expect(look, 'a look at what is kept').rejects.toMatchObject({ code: 'LOCK_MISMATCH' });
  const same = await locks[1]!.memo('key', { keep: '1h', match: { b: [2], a: 1 } }).run(() => 2);
  expect(same.value).toBe(1);
});

test('a caller that does not say which request it is has the result of any, and one that says so has that of nobody in particular', async () => {
  const { locks } = processes();
  for (const [key, first, later] of [
    ['of one', { match: 1 }, {}],
    ['of nobody', {}, { match: 1 }],
  ] as const) {
    await locks[0]!.memo<number>(key, { keep: '1h', ...first }).run(() => 1);
    expect(await locks[1]!.memo<number>(key, { keep: '1h', ...later }).run(() => 2)).toMatchObject({
      value: 1,
      ran: false,
    });
  }
});

test.each([
  {},
  { keep: '1h' },
] as const)('who waits for another process with the same request, and %j, has its result', async (options) => {
  const { clock, locks } = processes();
  const { fn, runs, resolve } = work<number>();
  const calls = locks.map((each) => each.memo<number>('key', { match: { a: 1 }, ...options }).run(fn));
  await clock.advance(10);
  resolve(1);
  await clock.advance(10);
  expect((await Promise.all(calls)).map(({ value }) => value)).toEqual([1, 1]);
  expect(runs.count).toBe(1);
});

test.each([
  { match: 1 },
  {},
])('a caller with %j waits for a lock of that key, which is of no request', async (options) => {
  const { clock, locks } = processes();
  const lease = await locks[0]!.mutex('key').acquire();
  const waiting = locks[1]!.memo<number>('key', { keep: '1h', ...options }).run(() => 1);
  await clock.advance(100);
  await lease.release();
  await clock.advance(100);
  expect(await waiting).toMatchObject({ value: 1, ran: true });
});

test('begun too often without a result, it rests: an error tells the last error and whose it was', async () => {
  const { clock, locks } = processes();
  const memo = locks[0]!.memo<number>('key', { keep: '1h', attempts: 2, rest: '10m' });
  const bad = () => Promise.reject(new Error('bad'));
  await expect(memo.run(bad)).rejects.toThrow('bad');
  await expect(memo.run(bad)).rejects.toThrow('bad');
  const poisoned = locks[1]!.memo<number>('key', { keep: '1h', attempts: 2 }).run(() => 1);
  await expect(poisoned).rejects.toMatchObject({ code: 'LOCK_POISONED', message: expect.stringMatching(/p0.*bad/) });
  expect((await memo.peek()).state).toBe('poisoned');
  await clock.advance(600_000);
  expect((await memo.run(() => 1)).value).toBe(1);
});

test('what rests is not begun again, also where no result is kept', async () => {
  const { clock, locks } = processes();
  const memos = locks.map((each) => each.memo<number>('key', { attempts: 1, rest: '1m' }));
  const first = memos[0]!.run(() => Promise.reject(new Error('its own')));
  const failed = expect(first).rejects.toThrow('its own');
  await clock.advance(10);
  await failed;
  await clock.advance(5_000);
  const rests = expect(memos[1]!.run(() => 1)).rejects.toMatchObject({ code: 'LOCK_POISONED' });
  await clock.advance(10);
  await rests;
  const { state, at, until } = (await memos[1]!.peek()) as { state: string; at: Date; until: Date };
  expect([state, until.getTime() - at.getTime()]).toEqual(['poisoned', 60_000]);
  await clock.advance(60_000);
  const again = memos[1]!.run(() => 2);
  await clock.advance(10);
  expect(await again).toMatchObject({ value: 2, ran: true });
});

test('a rest after deaths is told, and the key is free, also where the seal throws', async () => {
  const { clock, locks } = processes();
  const seal = {
    seal: (): never => {
      throw new Error('no key');
    },
    open: (): never => {
      throw new Error('no key');
    },
  };
  const options = { keep: '1h', attempts: 1, seal } as const;
  locks[0]!
    .memo('key', options)
    .run(() => new Promise(() => {}))
    .catch(() => {});
  await clock.advance(10);
  await locks[0]!.forceRelease('key', { reason: 'it is dead' });
  await expect(locks[1]!.memo('key', options).run(() => 1)).rejects.toMatchObject({ code: 'LOCK_POISONED' });
  expect(await locks[1]!.mutex('key').tryAcquire()).not.toBeNull();
});

test('a death counts as a try', async () => {
  const { clock, engine, locks } = processes();
  const options = { keep: '1h', attempts: 1 } as const;
  void locks[0]!.memo('key', options).run(() => new Promise(() => {}));
  await clock.advance(10);
  const waiting = locks[1]!.memo('key', options).run(() => 1);
  const caught = waiting.catch((error) => error);
  await clock.advance(10);
  for await (const { held, token } of engine.inspect!('key')) if (held) await engine.evict!('key', token);
  await clock.advance(3_000);
  expect(await caught).toMatchObject({ code: 'LOCK_POISONED' });
});

test('of an old result one makes a new one, while all others get the old one at once', async () => {
  const { clock, locks } = processes();
  const options = { keep: '10m', refresh: '9m' } as const;
  await locks[0]!.memo<number>('key', options).run(() => 1);
  await clock.advance(9.5 * 60_000);
  const fresh = work<number>();
  const refreshing = locks[0]!.memo<number>('key', options).run(fresh.fn);
  await clock.advance(10);
  expect((await locks[0]!.memo<number>('key', options).run(() => 3)).value).toBe(1);
  expect((await locks[1]!.memo<number>('key', options).run(() => 4)).value).toBe(1);
  fresh.resolve(2);
  await clock.advance(10);
  expect(await refreshing).toMatchObject({ value: 2, ran: true });
  expect((await locks[1]!.memo<number>('key', options).run(() => 5)).value).toBe(2);
});

test('an old result counts no longer than keep, also while a new one is being made in the same process', async () => {
  const { clock, locks } = processes(1);
  const memo = locks[0]!.memo<number>('key', { keep: '10s', refresh: '8s' });
  const began = clock.epoch();
  const first = memo.run(() => 1);
  await clock.advance(10);
  await first;
  await clock.advance(8_000);
  const { fn, runs, resolve } = work<number>();
  const refresher = memo.run(fn);
  await clock.advance(1_000);
  const early = await memo.run(fn);
  expect(early).toMatchObject({ value: 1, ran: false });
  expect(early.at.getTime() - began, 'when it was kept, told a second after the look').toBeLessThanOrEqual(10);
  await clock.advance(1_500);
  const late = memo.run(fn);
  await clock.advance(10);
  resolve(2);
  await clock.advance(10);
  expect(await late, 'came after keep').toMatchObject({ value: 2, ran: false });
  expect(await refresher).toMatchObject({ value: 2, ran: true });
  expect(runs.count).toBe(1);
});

test('a refresh that fails leaves the old result for all, also where errors are kept', async () => {
  const { clock, locks } = processes();
  const options: MemoOptions<number> = { keep: '10m', refresh: '1m', keepError: () => '5m' };
  const [memo, other] = locks.map((each) => each.memo<number>('key', options)) as [Memo<number>, Memo<number>];
  await memo.run(() => 1);
  await clock.advance(2 * 60_000);
  expect(await memo.run(() => Promise.reject(new Error('no database')))).toMatchObject({ value: 1, ran: false });
  expect(await other.peek(), 'after the failure').toMatchObject({ state: 'kept', value: 1 });
  expect(await other.run(() => 2), 'the next one tries again').toMatchObject({ value: 2, ran: true });
});

test('a refresh that was begun too often rests, and all have the old result meanwhile', async () => {
  const { clock, locks } = processes();
  const options: MemoOptions<number> = { keep: '10h', refresh: '1m', attempts: 2, rest: '5m' };
  const [memo, other] = locks.map((each) => each.memo<number>('key', options)) as [Memo<number>, Memo<number>];
  await memo.run(() => 1);
  await clock.advance(2 * 60_000);
  const { fn, runs, reject } = work<number>();
  reject(new Error('no database'));
  for (const each of [memo, other]) expect(await each.run(fn)).toMatchObject({ value: 1, ran: false });
  expect(await memo.peek()).toMatchObject({ state: 'kept', value: 1 });
  for (const each of [memo, other]) expect(await each.run(fn)).toMatchObject({ value: 1, ran: false });
  expect(runs.count).toBe(2);
  await clock.advance(6 * 60_000);
  expect(await other.run(() => 2), 'after the rest').toMatchObject({ value: 2, ran: true });
});

test('a refresh that is begun once too often, since the looks came before, runs nothing, and the old result is had', async () => {
  const { clock, engine, locks } = processes();
  const options: MemoOptions<number> = { keep: '10h', refresh: '1m', attempts: 1, rest: '5m' };
  await locks[0]!.memo<number>('key', options).run(() => 1);
  await clock.advance(2 * 60_000);
  const looked = Promise.withResolvers<void>();
  const values = { look: () => looked.promise.then(() => found), forget: engine.values!.forget };
  const found = await engine.values!.look('key');
  const late = createLocks(around(engine, { values }), { clock });
  const { fn, runs } = work<number>();
  const call = late.memo<number>('key', options).run(fn);
  await clock.advance(0);
  await locks[1]!.memo<number>('key', options).run(() => Promise.reject(new Error('no')));
  looked.resolve();
  await clock.advance(0);
  expect(await call).toMatchObject({ value: 1, ran: false });
  expect(runs.count).toBe(0);
  expect(await locks[1]!.memo<number>('key', options).peek()).toMatchObject({ state: 'kept', value: 1 });
  expect(await locks[1]!.mutex('key').tryAcquire(), 'the key is free').not.toBeNull();
});

test('a wait has an end, in the middle of a run of another process and of this one', async () => {
  const { clock, locks } = processes();
  const first = work<number>();
  const running = locks[0]!.memo<number>('key', { keep: '1h' }).run(first.fn);
  await clock.advance(10);
  const stop = new AbortController();
  const runs = locks.map((each) => each.memo<number>('key', { keep: '1h' }));
  const codes = runs
    .flatMap((memo) => [
      memo.run(() => 2, { wait: 0 }),
      memo.run(() => 2, { wait: 500 }),
      memo.run(() => 2, { signal: stop.signal }),
    ])
    .map((call) => call.catch((error) => error.code));
  await clock.advance(1_000);
  stop.abort();
  await clock.advance(10);
  expect(await Promise.all(codes)).toEqual([
    'LOCK_TIMEOUT',
    'LOCK_TIMEOUT',
    'LOCK_ABORTED',
    'LOCK_TIMEOUT',
    'LOCK_TIMEOUT',
    'LOCK_ABORTED',
  ]);
  first.resolve(1);
  await clock.advance(10);
  expect((await running).value).toBe(1);
});

test('a run whose caller has given up goes on for those who wait, and stops when nobody does', async () => {
  const { clock, locks } = processes(1);
  const memo = locks[0]!.memo<number>('key', { keep: '1h' });
  const stop = new AbortController();
  const later = new AbortController();
  let signal: AbortSignal | undefined;
  const { promise, resolve } = Promise.withResolvers<number>();
  const running = memo.run(
    (run) => {
      ({ signal } = run);
      return promise;
    },
    { signal: stop.signal },
  );
  const waiting = memo.run(() => 2, { signal: later.signal }).catch((error) => error.code);
  await clock.advance(10);
  stop.abort();
  expect(signal!.aborted, 'while another one waits').toBe(false);
  later.abort();
  expect(await waiting).toBe('LOCK_ABORTED');
  expect(signal!.aborted, 'when nobody waits').toBe(true);
  resolve(1);
  await clock.advance(10);
  expect((await running).value).toBe(1);
});

test('a run that lost its lease has its value, which others do not get, and the reason', async () => {
  const { locks } = processes();
  const { fn, resolve } = work<number>();
  const lost = Promise.withResolvers<unknown>();
  const running = locks[0]!.memo<number>('key', { keep: '1h' }).run((run) => {
    run.signal.addEventListener('abort', () => lost.resolve(run.signal.reason));
    return fn();
  });
  await setTimeout(0);
  await locks[0]!.close();
  const reason = await lost.promise;
  resolve(1);
  expect(await running).toMatchObject({ value: 1, ran: true, kept: false, error: reason });
  expect(await locks[1]!.memo<number>('key', { keep: '1h' }).run(() => 2)).toMatchObject({ value: 2, ran: true });
});

test('what is kept of another request is not opened', async () => {
  const { locks } = processes();
  const seal = { seal: (text: string) => text, open: (text: string) => text };
  await locks[0]!.memo('key', { keep: '1h', match: 1, seal }).run(() => 'secret');
  for (const own of [{ ...seal, open: () => expect.fail('opened') }, undefined]) {
    const other = locks[1]!.memo('key', { keep: '1h', match: 2, seal: own });
    await expect(other.run(() => 'no')).rejects.toMatchObject({ code: 'LOCK_MISMATCH' });
    await expect(other.peek()).rejects.toMatchObject({ code: 'LOCK_MISMATCH' });
  }
});

test('a seal hides the result; one that throws makes nobody run again', async () => {
  const { engine, locks } = processes();
  const seal = {
    seal: (text: string) => Buffer.from(text).toString('hex'),
    open: (text: string) => Buffer.from(text, 'hex').toString(),
  };
  await locks[0]!.memo('key', { keep: '1h', seal }).run(() => 'secret');
  expect((await engine.values!.look('key')).value!.text).not.toContain('secret');
  expect((await locks[1]!.memo('key', { keep: '1h', seal }).run(() => 'no')).value).toBe('secret');
  await expect(locks[1]!.memo('key', { keep: '1h' }).run(() => 'no')).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  const broken = {
    ...seal,
    seal: () => {
      throw new Error('no key');
    },
  };
  const refused = locks[0]!.memo('other', { keep: '1h', seal: broken }).run(() => 'secret');
  await expect(refused).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  await expect(locks[1]!.memo('other', { keep: '1h', seal }).run(() => 'no')).rejects.toMatchObject({
    code: 'LOCK_INVALID',
  });
});

test('a result is kept as the text that every version reads', async () => {
  const { engine, locks } = processes();
  await locks[0]!.memo('without', { keep: '1h' }).run(() => ({ n: 1 }));
  await locks[0]!.memo('with', { keep: '1h', match: 1 }).run(() => 'x');
  const textOf = async (key: string): Promise<string> => (await engine.values!.look(key)).value!.text;
  expect(await textOf('without')).toBe('1 kept plain - 1 {"n":1}');
  expect(await textOf('with')).toMatch(/^1 kept plain [0-9a-f]{64} 1 "x"$/);
});

test('a text of a newer format, or a broken one, is an error, and nobody runs', async () => {
  const { engine, locks } = processes();
  for (const [key, text] of [
    ['newer', '2 kept plain - 1'],
    ['broken', 'rubbish'],
  ] as const) {
    const id = 'a'.repeat(32);
    const claim = {
      key,
      id,
      units: 2 ** 31 - 1,
      capacity: 2 ** 31 - 1,
      ttl: 1_000,
      queue: false,
      tokenCount: 1,
      within: 1_000,
      label: '',
    };
    await engine.attempt(claim);
    await engine.store!(claim, { text, ttl: 60_000 });
    await expect(locks[0]!.memo(key, { keep: '1h' }).run(() => 1)).rejects.toMatchObject({ code: 'LOCK_INVALID' });
    await locks[0]!.memo(key).forget();
    expect((await locks[0]!.memo(key, { keep: '1h' }).run(() => 1)).value).toBe(1);
  }
});

test('a run that asks for its own result is told so', async () => {
  const { locks } = processes();
  const memo = locks[0]!.memo<number>('key', { keep: '1h' });
  await expect(memo.run(async () => (await memo.run(() => 1)).value)).rejects.toMatchObject({ code: 'LOCK_DEADLOCK' });
});

test('what is looked at: absent, running and kept; and forgotten', async () => {
  const { clock, locks } = processes();
  const memo = locks[0]!.memo<number>('key', { keep: '1h' });
  expect(await memo.peek()).toEqual({ state: 'absent', attempts: 0 });
  const { fn, resolve } = work<number>();
  const running = memo.run(fn);
  await clock.advance(10);
  expect(await locks[1]!.memo('key').peek()).toMatchObject({ state: 'running', by: 'p0' });
  resolve(1);
  await clock.advance(10);
  await running;
  expect(await locks[1]!.memo('key').peek()).toMatchObject({ state: 'kept', value: 1 });
  expect(await memo.forget()).toBe(true);
  expect(await memo.forget()).toBe(false);
  expect((await memo.peek()).state).toBe('absent');
});

test('options that make no sense are refused', () => {
  const { locks } = processes(1);
  const bad: unknown[] = [
    { keep: -1 },
    { keep: 'soon' },
    { attempts: 0 },
    { refresh: '1m' },
    { keep: '1m', refresh: '2m' },
    { encode: 1 },
    { seal: {} },
    { match: () => 1 },
    { match: undefined },
    { kept: 1 },
    { keep: null },
  ];
  for (const options of bad)
    expect(() => locks[0]!.memo('key', options as MemoOptions), JSON.stringify(options)).toThrow(
      expect.objectContaining({ code: 'LOCK_INVALID' }),
    );
});

test('events tell of a memo, and never what it keeps', async () => {
  using events = heard('acquired', 'released', 'left', 'answered', 'waiting');
  const { clock, locks } = processes();
  const { fn, resolve } = work<string>();
  const calls = locks.map((each) => each.memo<string>('key', { keep: '1h' }).run(fn));
  await clock.advance(10);
  resolve('a secret word');
  await clock.advance(10);
  await Promise.all(calls);
  expect(events.names.toSorted()).toEqual(['acquired', 'answered', 'left', 'released', 'waiting']);
  const told = events.events.map((event, i) => [events.names[i], (event as LockEvent).state]);
  expect(Object.fromEntries(told)).toEqual({
    ...{ acquired: undefined, released: undefined, waiting: undefined },
    ...{ left: 'kept', answered: 'kept' },
  });
  expect(JSON.stringify(events)).not.toContain('secret');
});

test('a caller that comes at any turn while the last ones get their results has one, too', async () => {
  const lost: number[] = [];
  for (let turns = 0; turns < 40; turns++) {
    const memo = createLocks(memory()).memo<number>('key');
    let next: Promise<unknown> | undefined;
    const ends = Promise.withResolvers<void>();
    // Outside of the function: inside, it would ask for its own result.
    void ends.promise.then(async () => {
      for (let turn = 0; turn < turns; turn++) await null;
      next = memo.run(() => 2);
    });
    await memo.run(() => {
      ends.resolve();
      return 1;
    });
    await setTimeout(0);
    if ((await Promise.race([next, setTimeout(500, 'nothing')])) === 'nothing') lost.push(turns);
  }
  expect(lost, 'it waits for ever where it comes so many turns after the end of the function').toEqual([]);
});

test.each([
  ['kept', { keepError: () => '1h' as const }, 'failed'],
  ['no more to be tried', { attempts: 1 }, 'poisoned'],
  ['lost', {}, undefined],
])('an event tells that an error is %s, and not which', async (_, options, state) => {
  using events = heard('released', 'left');
  const { locks } = processes();
  const fails = locks[0]!.memo('key', { keep: '1h', ...options }).run(() => Promise.reject(new Error('a secret word')));
  await expect(fails).rejects.toThrow('a secret word');
  expect(events.events.flatMap((event) => (event as LockEvent).state ?? [])).toEqual(state ? [state] : []);
  expect(events.names).toEqual(state ? ['released', 'left'] : ['released']);
  expect(JSON.stringify(events)).not.toContain('secret');
});
