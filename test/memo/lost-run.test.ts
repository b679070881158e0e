/** A run that has lost its lease is that of its own caller only: all others go to the line again. */
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type MemoRun } from '../../src/index.ts';
import { standing } from './standing.ts';

/** Two processes over one engine. `hang` begins a run in the first one that ends when the test says so. */
function processes() {
  const clock = manualClock();
  const engine = memory({ clock });
  const [first, second] = [1, 2].map(() => createLocks(engine, { clock, ttl: 3_000 })) as [
    ReturnType<typeof createLocks>,
    ReturnType<typeof createLocks>,
  ];
  const hang = async (options = {}) => {
    const begun = Promise.withResolvers<MemoRun>();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const call = first.memo<string>('key', { keep: '1h', ...options }).run((run) => {
      begun.resolve(run);
      return promise;
    });
    call.catch(() => {});
    await clock.advance(10);
    return { call, run: await begun.promise, resolve, reject };
  };
  return { clock, engine, first, second, hang };
}

test('a run whose hold was gone without a notice when it ended says why its value is not kept', async () => {
  const { clock, second, hang } = processes();
  const gone = await hang();
  await second.forceRelease('key', { reason: 'it hangs' });
  gone.resolve('late'); // before the engine is asked for the hold again
  await clock.advance(10);
  expect(await gone.call).toMatchObject({ value: 'late', ran: true, kept: false, error: { code: 'LOCK_LOST' } });
});

test.each([
  '1h',
  0,
] as const)('callers beside a run that hangs and was released by force have what another process made (keep %s)', async (keep) => {
  const { clock, engine, first, second, hang } = processes();
  await hang({ keep });
  const beside = first.memo<string>('key', { keep }).run(() => 'beside');
  await clock.advance(0);
  await first.forceRelease('key', { reason: 'it hangs' });
  const elsewhere = second.memo<string>('key', { keep }).run(async () => {
    await new Promise<void>((resolve) => clock.after(2_000, resolve));
    return 'elsewhere';
  });
  await clock.advance(1_500);
  const newcomer = first.memo<string>('key', { keep }).run(() => 'newcomer', { wait: '2s' });
  await clock.advance(1_500);
  expect(await elsewhere).toMatchObject({ value: 'elsewhere', ran: true });
  expect(await beside).toMatchObject({ value: 'elsewhere', ran: false });
  expect(await newcomer).toMatchObject({ value: 'elsewhere', ran: false });
  expect(await standing(engine, 'key')).toEqual([]);
});

test('once a run has lost its lease, a newcomer of its process looks, and has what another process kept', async () => {
  const { clock, first, second, hang } = processes();
  await hang();
  await first.forceRelease('key', { reason: 'it hangs' });
  await second.memo<string>('key', { keep: '1h' }).run(() => 'elsewhere');
  await clock.advance(1_500);
  const had = await first.memo<string>('key', { keep: '1h' }).run(() => 'again', { wait: 0 });
  expect(had).toMatchObject({ value: 'elsewhere', ran: false });
});

test('after a loss the next caller of the process runs, and the end of the lost run changes nothing', async () => {
  const { clock, first, hang } = processes();
  const lost = await hang();
  const next = Promise.withResolvers<string>();
  const beside = first.memo<string>('key', { keep: '1h' }).run(() => next.promise);
  const third = first.memo<string>('key', { keep: '1h' }).run(() => 'third');
  await clock.advance(0);
  await first.forceRelease('key', { reason: 'it hangs' });
  await clock.advance(1_500);
  lost.resolve('late');
  expect(await lost.call).toMatchObject({ value: 'late', ran: true, kept: false, error: { code: 'LOCK_LOST' } });
  next.resolve('next');
  expect(await beside).toMatchObject({ value: 'next', ran: true, kept: true });
  expect(await third).toMatchObject({ value: 'next', ran: false });
});

test('the failure of a lost run, whose keepError answers nonsense, is its own caller’s only', async () => {
  const { clock, first, hang } = processes();
  const lost = await hang({ keepError: () => 'nonsense' });
  const beside = first.memo<string>('key', { keep: '1h' }).run(() => 'beside');
  const next = Promise.withResolvers<string>();
  await first.forceRelease('key', { reason: 'it hangs' });
  const other = first.memo<string>('other').run(() => next.promise);
  await clock.advance(1_500);
  lost.reject(new Error('late'));
  await expect(lost.call).rejects.toThrow('late');
  expect(await beside).toMatchObject({ value: 'beside', ran: true });
  next.resolve('');
  await other;
});

test.each([
  'loses its lease',
  'fails',
] as const)('callers that have waited for a minute beside a run that %s go on waiting, and the next one runs', async (how) => {
  const { clock, first, hang } = processes();
  const before = await hang();
  const memo = first.memo<string>('key', { keep: '1h' });
  const next = Promise.withResolvers<string>();
  const [runs, waits] = [memo.run(() => next.promise), memo.run(() => 'of the last')];
  await clock.advance(60_000);
  if (how === 'fails') before.reject(new Error('no'));
  else await first.forceRelease('key', { reason: 'it hangs' });
  await clock.advance(3_000);
  next.resolve('next');
  await clock.advance(10);
  expect(await runs).toMatchObject({ value: 'next', ran: true });
  expect(await waits).toMatchObject({ value: 'next', ran: false });
});

test('callers that have waited for a minute for a run that died, which was the last attempt, are told that', async () => {
  const { clock, first, second, hang } = processes();
  const options = { keep: '1h', attempts: 1 } as const;
  await hang(options);
  const calls = [1, 2].map(() => second.memo<string>('key', options).run(() => expect.fail('it ran')));
  const told = calls.map((call) => expect(call).rejects.toMatchObject({ code: 'LOCK_POISONED' }));
  await clock.advance(60_000);
  await first.forceRelease('key', { reason: 'it hangs' });
  await clock.advance(3_000);
  await Promise.all(told);
});

test('the end of a run that lost its lease takes nothing from the run after it, nor from those who wait for that', async () => {
  const { clock, first, hang } = processes();
  const lost = await hang({ match: 'one', keepError: () => 'nonsense' });
  const memo = (match: string) => first.memo<string>('key', { keep: '1h', match });
  const next = Promise.withResolvers<string>();
  const [runs, waits] = [memo('one').run(() => next.promise), memo('one').run(() => 'of the last')];
  await clock.advance(0);
  await first.forceRelease('key', { reason: 'it hangs' });
  await clock.advance(1_500);
  lost.reject(new Error('late'));
  await expect(lost.call).rejects.toThrow('late');
  const other = memo('two').run(() => 'of another request');
  const told = expect(Promise.race([other, runs])).rejects.toMatchObject({ code: 'LOCK_MISMATCH' });
  await clock.advance(10);
  await told;
  next.resolve('next');
  await clock.advance(10);
  expect(await runs).toMatchObject({ value: 'next', ran: true, kept: true });
  expect(await waits).toMatchObject({ value: 'next', ran: false });
});
