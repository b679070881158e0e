/** The look with which a call of a memo begins. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { ValueRecord } from '../../src/core/contract/backend.ts';
import { createLocks, type MemoWait } from '../../src/index.ts';
import { loaded } from './loaded.ts';

/** A process whose looks are answered when the test says so. */
async function held() {
  const clock = manualClock();
  const engine = memory({ clock });
  const looks: (() => void)[] = [];
  const way = around(engine, {
    values: {
      forget: (key) => engine.values!.forget(key),
      look: (key) =>
        new Promise<ValueRecord>((resolve) => {
          looks.push(() => resolve(engine.values!.look(key)));
        }),
    },
  });
  const answer = (): void => {
    for (const each of looks.splice(0)) each();
  };
  const locks = await loaded(createLocks(way, { clock }));
  return { clock, looks, answer, locks, other: createLocks(engine, { clock }) };
}

const WAITS: readonly (MemoWait | undefined)[] = [
  undefined,
  { wait: '1m' },
  { wait: 100 },
  { signal: new AbortController().signal },
];

test.each(WAITS)('a function runs in the async context of its caller: %o', async (wait) => {
  const { clock, answer, locks } = await held();
  const context = new AsyncLocalStorage<string>();
  const memo = locks.memo('key', { keep: '1h' });
  const call = context.run('caller', () => memo.run(() => context.getStore(), wait));
  await clock.advance(0);
  context.run('another', answer);
  await clock.advance(0);
  expect((await call).value).toBe('caller');
});

test('of callers that look at the same time the first runs, however it waits', async () => {
  for (const first of WAITS)
    for (const second of WAITS) {
      const { clock, looks, answer, locks } = await held();
      const memo = locks.memo<number>('key', { keep: '1h' });
      const calls = [first, second].map((wait, i) => memo.run(() => i, wait));
      await clock.advance(0);
      expect(looks.length).toBe(1);
      answer();
      await clock.advance(0);
      expect((await Promise.all(calls)).map(({ value, ran }) => ({ value, ran }))).toEqual([
        { value: 0, ran: true },
        { value: 0, ran: false },
      ]);
    }
});

test('who gives up while the look is under way runs nothing, and the next one does', async () => {
  const { clock, answer, locks } = await held();
  const memo = locks.memo<string>('key', { keep: '1h' });
  const stop = new AbortController();
  const codes = [{ wait: 100 }, { signal: stop.signal }].map((wait) =>
    memo.run(() => 'gave up', wait).catch((error) => error.code),
  );
  const patient = memo.run(() => 'made');
  await clock.advance(100);
  stop.abort();
  expect(await Promise.all(codes)).toEqual(['LOCK_UNAVAILABLE', 'LOCK_ABORTED']);
  answer();
  await clock.advance(0);
  expect(await patient).toMatchObject({ value: 'made', ran: true });
});

test('a wait that is longer than the look counts from the call', async () => {
  const { clock, answer, locks } = await held();
  const { promise } = Promise.withResolvers<never>();
  const memo = locks.memo('key', { keep: '1h' });
  const running = memo.run(() => promise);
  running.catch(() => {});
  const code = memo.run(() => 1, { wait: 6_000 }).catch((error) => error.code);
  await clock.advance(4_000);
  answer();
  await clock.advance(1_999);
  expect(await Promise.race([code, 'waits'])).toBe('waits');
  await clock.advance(1);
  expect(await Promise.race([code, 'waits'])).toBe('LOCK_TIMEOUT');
});

test('what a memo is given runs in the async context of the call that it is for', async () => {
  const context = new AsyncLocalStorage<string>();
  const told: string[] = [];
  const note =
    (what: string) =>
    (text: string): string => {
      told.push(`${what} for ${context.getStore()}`);
      return text;
    };
  const { clock, answer, locks } = await held();
  const memo = locks.memo<string>('key', {
    keep: '1h',
    encode: note('encode'),
    decode: note('decode'),
    seal: { seal: note('seal'), open: note('open') },
    keepError: () => note('keepError')('') === '' && false,
  });
  const work = Promise.withResolvers<string>();
  const first = context.run('first', () => memo.run(() => Promise.reject(new Error('no'))));
  const calls = ['second', 'third'].map((name) => context.run(name, () => memo.run(() => work.promise)));
  context.run('another', answer);
  await expect(first).rejects.toThrow('no');
  await clock.advance(0);
  work.resolve('made');
  await Promise.all(calls);
  const fourth = context.run('fourth', () => memo.run(() => 'again'));
  await clock.advance(0);
  context.run('another', answer);
  await fourth;
  expect(told).toEqual([
    'keepError for first',
    'encode for second',
    'seal for second',
    'open for second',
    'decode for second',
    'open for third',
    'decode for third',
    'open for fourth',
    'decode for fourth',
  ]);
});

test('a look that is shared no more leaves the next look to all later callers', async () => {
  const { clock, looks, answer, locks, other } = await held();
  const memo = locks.memo<string>('key', { keep: '1h' });
  const calls = [memo.run(() => 'own')];
  await clock.advance(0);
  await memo.forget();
  calls.push(memo.run(() => 'own'));
  void other.memo<string>('key', { keep: '1h' }).run(() => 'of the other');
  await clock.advance(10);
  looks.shift()!();
  await clock.advance(0);
  calls.push(memo.run(() => 'own'));
  await clock.advance(0);
  expect(looks, 'under way').toHaveLength(1);
  answer();
  expect((await Promise.all(calls)).map(({ value }) => value)).toEqual(calls.map(() => 'of the other'));
});
