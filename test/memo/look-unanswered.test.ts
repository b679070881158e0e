/** What a caller does with a look that failed, or whose answer came late: its claim comes to a result, too. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, LockError } from '../../src/index.ts';
import { heard } from '../core/heard.ts';
import { loaded } from './loaded.ts';

/** Two processes over one engine. The looks of the second one are answered when `answer` says so. */
function processes(answer: () => Promise<void>) {
  const clock = manualClock();
  const engine = memory({ clock });
  const { values } = engine;
  const look = async (key: string) => {
    const found = await values!.look(key);
    await answer();
    return found;
  };
  const far = around(engine, { values: { forget: (key) => values!.forget(key), look } });
  return { clock, first: createLocks(engine, { clock }), second: createLocks(far, { clock }) };
}

test.each([
  ['1h', 3_000_000],
  [1, 0.5],
] as const)('a caller whose look was not answered has a result that is kept for %s, and is %s ms old, and runs nothing', async (keep, age) => {
  const { clock, first, second } = processes(() => Promise.reject(new Error('away')));
  await second.memo('loaded').run(() => 0);
  await first.memo('key', { keep }).run(() => 'first');
  await clock.advance(age);
  expect(await second.memo<string>('key', { keep }).run(() => 'second')).toMatchObject({ value: 'first', ran: false });
});

test('callers whose look is not answered have a result by their claim, also without a wait, and the next ones look again', async () => {
  let looks = 0;
  const { clock, first, second } = processes(() => {
    looks++;
    return Promise.reject(new Error('away'));
  });
  await second.memo('loaded').run(() => 0);
  expect(await second.memo<string>('alone', { keep: '1h' }).run(() => 'made', { wait: 0 })).toMatchObject({
    ran: true,
  });
  const memo = second.memo<string>('key', { keep: '1h' });
  const calls = [1, 2].map((wait) => memo.run(() => 'made', { wait: wait * 1_000 }));
  await clock.advance(10);
  expect((await Promise.all(calls)).map(({ value, ran }) => [value, ran])).toEqual([
    ['made', true],
    ['made', false],
  ]);
  const before = looks;
  expect(await memo.run(() => 'again')).toMatchObject({ value: 'made', ran: false });
  expect(looks - before).toBe(1);
  void first.memo('taken', { keep: '1h' }).run(() => new Promise(() => {}));
  await clock.advance(10);
  const late = second.memo('taken', { keep: '1h' }).run(() => 1, { wait: 100 });
  const told = expect(late, 'the claim was answered').rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  await clock.advance(100);
  await told;
});

test('for a caller whose signal was aborted before nobody looks', async () => {
  let looks = 0;
  const { second } = processes(async () => {
    looks++;
  });
  await second.memo('loaded').run(() => 0);
  const call = second.memo('key', { keep: '1h' }).run(() => 1, { signal: AbortSignal.abort() });
  await expect(call).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
  expect(looks).toBe(0);
});

test('where the look is refused, all are told why, and nobody runs or stands in line', async () => {
  using events = heard('acquired', 'waiting');
  const refused = new LockError('LOCK_INVALID', 'there is something else', { key: 'key' });
  const { second } = processes(() => Promise.reject(refused));
  const memo = second.memo('key', { keep: '1h' });
  const calls = [1, 2].map(() => memo.run(() => 'made'));
  for (const call of calls) await expect(call).rejects.toBe(refused);
  expect(events.names).toEqual([]);
});

test('a caller who hears late that nothing was there has what was left meanwhile', async () => {
  const answered = Promise.withResolvers<void>();
  const { clock, first, second } = processes(() => answered.promise);
  await second.memo('loaded').run(() => 0);
  const late = second.memo<string>('key', { keep: '1h' }).run(() => 'second');
  await clock.advance(1);
  await first.memo('key', { keep: '1h' }).run(() => 'first');
  await clock.advance(99);
  answered.resolve();
  expect(await late).toMatchObject({ value: 'first', ran: false });
});

test('who finds a result due when another process has made a new one has that', async () => {
  let answered = Promise.resolve();
  const { clock, first, second } = processes(() => answered);
  const options = { keep: '1h', refresh: '1m' } as const;
  await second.memo<string>('key', options).run(() => 'old');
  await clock.advance(61_000);
  const { promise, resolve } = Promise.withResolvers<void>();
  answered = promise;
  const late = second.memo<string>('key', options).run(() => 'second');
  await clock.advance(1);
  expect(await first.memo<string>('key', options).run(() => 'first')).toMatchObject({ value: 'first', ran: true });
  resolve();
  expect(await late).toMatchObject({ value: 'first', ran: false });
});

test('a look that was refused is not shared with a later call', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const refusal = new LockError('LOCK_UNSUPPORTED', 'no permission');
  let refused = 1;
  const values = {
    forget: (key: string) => engine.values!.forget(key),
    look: (key: string) => (refused-- > 0 ? Promise.reject(refusal) : engine.values!.look(key)),
  };
  const locks = await loaded(createLocks(around(engine, { values }), { clock }));
  const memo = locks.memo('key', { keep: '1h' });
  await expect(memo.run(() => 1)).rejects.toBe(refusal);
  expect(await memo.run(() => 2)).toMatchObject({ value: 2, ran: true });
});

test('an answer that came too late says nothing of the request that runs', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  let late = 1;
  const attempt: typeof engine.attempt = async (claim) =>
    late-- > 0 ? { granted: false, late: true } : engine.attempt(claim);
  const locks = createLocks(around(engine, { attempt }), { clock });
  expect(await locks.memo('key', { keep: '1h', match: 1 }).run(() => 'made')).toMatchObject({ ran: true });
});

test('a wait that is longer than a look is as long as was asked for, at any time and with any part of a millisecond', async () => {
  const answered = Promise.withResolvers<void>();
  let answer = Promise.resolve();
  const { clock, first, second } = processes(() => answer);
  await second.memo('loaded').run(() => 0);
  void first.memo('key', { keep: '1h' }).run(() => new Promise(() => {}));
  await clock.advance(1_000.25);
  answer = answered.promise;
  let ended: string | undefined;
  second
    .memo('key', { keep: '1h' })
    .run(() => 1, { wait: 6_000 })
    .catch(({ code }) => {
      ended = code;
    });
  await clock.advance(4_000.5);
  answered.resolve();
  await clock.advance(1_999.25);
  expect(ended, 'a quarter of a ms before its end').toBeUndefined();
  await clock.advance(1.25);
  expect(ended).toBe('LOCK_TIMEOUT');
});

test('callers whose claim finds what a newer version has left are told so, and nobody runs', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const values = { ...engine.values!, look: () => Promise.reject(new Error('away')) };
  const locks = await loaded(createLocks(around(engine, { values }), { clock }));
  const all = 2 ** 31 - 1;
  const claim = { key: 'key', id: 'a'.repeat(32), units: all, capacity: all, ttl: 60_000, queue: false };
  const newer = { ...claim, tokenCount: 1, within: 1_000, label: 'of a newer version' };
  await engine.attempt(newer);
  const memo = locks.memo('key', { keep: '1h' });
  const calls = [1, 2].map(() => memo.run(() => expect.fail('it ran')));
  const told = calls.map((call) => expect(call).rejects.toMatchObject({ code: 'LOCK_INVALID', key: 'key' }));
  await clock.advance(10);
  await engine.store!(newer, { text: '2 kept plain - 1', ttl: 60_000 });
  await clock.advance(10);
  await Promise.all(told);
});
