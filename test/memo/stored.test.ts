/** What a run leaves for those who wait beside it, and for those who come while it is being left. */
import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks, LockError, type MemoOptions } from '../../src/index.ts';
import { heard } from '../core/heard.ts';
import { loaded } from './loaded.ts';
import { standing } from './standing.ts';

/** ms that a release takes until the engine has carried it out, and as many until its answer comes. */
const SLOW = 20;

/** Processes over one engine, the first of which has a slow way for releases. */
async function processes() {
  const clock = manualClock();
  const engine = memory({ clock });
  const pause = (): Promise<void> => new Promise((resolve) => void clock.after(SLOW, resolve));
  const slowly = async <T>(call: () => Promise<T>): Promise<T> => {
    await pause();
    const answer = await call();
    await pause();
    return answer;
  };
  const slow: Backend = around(engine, {
    release: (...asked) => slowly(() => engine.release(...asked)),
    store: (...asked) => slowly(() => engine.store!(...asked)),
  });
  const [first, second] = [slow, engine].map((each) => createLocks(each, { clock, ttl: 3_000 }));
  for (const each of [first!, second!]) await loaded(each);
  return { clock, engine, first: first!, second: second! };
}
const no = (): Promise<never> => Promise.reject(new Error('no'));

describe.each([['1h'], [1], [0]] as const)('a result that is kept for %s', (keep) => {
  test('is had by those who wait beside its run, with no claim of their own, and at the time at which it was left', async () => {
    const { clock, first } = await processes();
    using events = heard('acquired', 'waiting', 'answered');
    const memo = first.memo<string>('key', { keep });
    const { promise, resolve } = Promise.withResolvers<string>();
    const calls = [1, 2, 3].map(() => memo.run(() => promise));
    await clock.advance(100);
    resolve('made');
    await clock.advance(2 * SLOW);
    const at = new Date(clock.epoch());
    expect(await Promise.all(calls)).toMatchObject([
      { value: 'made', ran: true, kept: true, at },
      { value: 'made', ran: false, kept: true, at },
      { value: 'made', ran: false, kept: true, at },
    ]);
    expect(events.names).toEqual(['acquired']);
  });

  test(`is ${keep === 0 ? 'not had' : 'had'} by those who come before the answer to its release`, async () => {
    const { clock, first } = await processes();
    using events = heard('acquired');
    const memo = first.memo<string>('key', { keep });
    const running = memo.run(() => 'made');
    await clock.advance(1.5 * SLOW);
    const late = memo.run(() => 'made for the late one');
    await clock.advance(4 * SLOW);
    expect(await running).toMatchObject({ value: 'made', ran: true });
    expect(await late).toMatchObject(
      keep === 0 ? { value: 'made for the late one', ran: true } : { value: 'made', ran: false },
    );
    expect(events.names).toHaveLength(keep === 0 ? 2 : 1);
  });
});

test('those who wait beside a run that lost its lease do not have its value', async () => {
  const { clock, first, second } = await processes();
  const memo = first.memo<string>('key', { keep: '1h' });
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = memo.run(() => promise);
  await clock.advance(10);
  const beside = memo.run(() => 'made anew');
  await second.forceRelease('key', { reason: 'tried' });
  resolve('too late');
  await clock.advance(3_000);
  expect(await running).toMatchObject({ value: 'too late', kept: false });
  expect(await beside).toMatchObject({ value: 'made anew', ran: true, kept: true });
});

test.each([
  ['is kept', { keep: '1h', keepError: () => '1h' }, 'LOCK_FAILED'],
  ['is the last one', { keep: '1h', attempts: 1 }, 'LOCK_POISONED'],
] as const)('an error that %s is told to those who wait beside it with no claim of their own, and is there when its caller has it', async (_, options, code) => {
  const { clock, engine, first } = await processes();
  using events = heard('acquired', 'waiting', 'answered');
  const memo = first.memo<string>('key', options as MemoOptions<string>);
  const [failing, ...beside] = [1, 2, 3].map(() => memo.run(no));
  const there = failing!.catch(async () => [
    (await engine.values!.look('key')).value?.token,
    await standing(engine, 'key'),
  ]);
  const told = beside.map((call) => call.catch((error) => error.code));
  await clock.advance(4 * SLOW);
  expect(await there).toEqual([1n, []]);
  expect(await Promise.all(told)).toEqual([code, code]);
  expect(events.names).toEqual(['acquired']);
});

test('the key is free when a caller has its error, also where a release takes time', async () => {
  const { clock, engine, first } = await processes();
  const failing = first.memo('key').run(no);
  const free = failing.catch(() => standing(engine, 'key'));
  await clock.advance(3 * SLOW);
  expect(await free).toEqual([]);
});

describe.each([
  ['1h', true],
  [1, true],
  [0, false],
] as const)('a result that is kept for %s, and was left while an answer was on its way,', (keep, had) => {
  test(`is ${had ? 'had' : 'not had'} by those who came after that`, async () => {
    const { clock, engine, first } = await processes();
    const arrives = Promise.withResolvers<void>();
    const answers = { late: false };
    const far = await loaded(
      createLocks(
        around(engine, {
          // It is woken, and asks for the words itself.
          watch: (claim, wake) => engine.watch!(claim, (grant) => wake(grant)),
          attempt: async (claim) => {
            const answer = await engine.attempt(claim);
            if (answers.late) await arrives.promise;
            return answer;
          },
        }),
        { clock, ttl: 3_000 },
      ),
    );
    const made = Promise.withResolvers<string>();
    const running = first.memo<string>('key', { keep }).run(() => made.promise);
    await clock.advance(10);
    const memo = far.memo<string>('key', { keep });
    const waiting = memo.run(() => 'another');
    await clock.advance(10);
    answers.late = true;
    made.resolve('made');
    await clock.advance(100);
    expect(await running).toMatchObject({ value: 'made' });
    const late = memo.run(() => 'made for the late one');
    arrives.resolve();
    await clock.advance(100);
    expect(await waiting).toMatchObject({ value: 'made', ran: false });
    expect(await late).toMatchObject(
      had ? { value: 'made', ran: false } : { value: 'made for the late one', ran: true },
    );
  });
});

test('of those who wait when another process hears of a result that nobody keeps, only those have it who waited when it was left', async () => {
  const { clock, engine, first } = await processes();
  const spin = { pause: 400, bound: 400, jitter: 0 };
  const deaf = await loaded(createLocks(around(engine, { watch: undefined }), { clock, ttl: 3_000, spin }));
  const made = Promise.withResolvers<string>();
  const running = first.memo<string>('key').run(() => made.promise);
  await clock.advance(10);
  const memo = deaf.memo<string>('key');
  const waiting = memo.run(() => 'another');
  await clock.advance(10);
  made.resolve('made');
  await clock.advance(3 * SLOW);
  expect(await running).toMatchObject({ value: 'made' });
  const late = memo.run(() => 'made for the late one');
  await clock.advance(1_000);
  expect(await waiting).toMatchObject({ value: 'made', ran: false });
  expect(await late).toMatchObject({ value: 'made for the late one', ran: true });
});

test('an error that the engine did not take is told to its own caller only, and the next one runs', async () => {
  const { clock, engine } = await processes();
  const full = around(engine, {
    store: () => Promise.reject(new LockError('LOCK_UNAVAILABLE', 'no room')),
  });
  const locks = await loaded(createLocks(full, { clock, ttl: 3_000 }));
  const memo = locks.memo<string>('key', { keep: '1h', keepError: () => '1h' });
  const failing = memo.run(no).catch((error) => error.message);
  const beside = memo.run(() => 'made');
  await clock.advance(10_000);
  expect(await failing).toBe('no');
  expect(await beside).toMatchObject({ value: 'made', ran: true });
});

test('an error that is kept is told to callers that have waited for a minute', async () => {
  const { clock, first } = await processes();
  const memo = first.memo<string>('key', { keep: '1h', keepError: () => '1h' });
  const { promise, reject } = Promise.withResolvers<string>();
  const failing = memo.run(() => promise).catch((error) => error.message);
  const beside = memo.run(() => expect.fail('it ran')).catch((error) => error.code);
  await clock.advance(60_000);
  reject(new Error('no'));
  await clock.advance(4 * SLOW);
  expect(await failing).toBe('no');
  expect(await beside).toBe('LOCK_FAILED');
});
