/** Whoever asked before a result came has it, however late it hears; whoever comes later has it until `keep` is over. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks } from '../../src/index.ts';
import { loaded } from './loaded.ts';

function engines() {
  const clock = manualClock();
  const engine = memory({ clock });
  return { clock, engine };
}

test.each([
  0,
  5,
  100,
  '1m',
] as const)('a process that stands still for eight seconds has the result for which it waited, and runs nothing (keep %s)', async (keep) => {
  const { clock, engine } = engines();
  const watch: NonNullable<Backend['watch']> = () => ({ async [Symbol.asyncDispose]() {} });
  const [runner, waiter] = [engine, around(engine, { watch })].map((each) => createLocks(each, { clock }));
  await loaded(waiter!);
  const work = Promise.withResolvers<string>();
  const runs = runner!.memo<string>('key', { keep }).run(() => work.promise);
  await clock.advance(10);
  const waits = waiter!.memo<string>('key', { keep }).run(() => 'again');
  await clock.advance(200); // more than clocks may differ by in eight seconds
  work.resolve('made');
  await runs;
  clock.suspend(8_000);
  clock.resync();
  await clock.advance(3_000);
  expect(await waits).toMatchObject({ value: 'made', ran: false, kept: true });
});

test.each([0, 5, 100])('a waiter that polls every twenty seconds has the result (keep %s)', async (keep) => {
  const { clock, engine } = engines();
  const polled = around(engine, { watch: undefined, traits: { ...engine.traits, wakes: 'never', fair: false } });
  const work = Promise.withResolvers<string>();
  const runs = createLocks(engine, { clock })
    .memo<string>('key', { keep })
    .run(() => work.promise);
  await clock.advance(10);
  const locks = createLocks(polled, { clock, spin: { pause: '20s', bound: '20s', jitter: 0 } });
  const waits = locks.memo<string>('key', { keep }).run(() => 'again');
  await clock.advance(25_000);
  work.resolve('made');
  await runs;
  await clock.advance(25_000);
  expect(await waits).toMatchObject({ value: 'made', ran: false });
});

test('a result is over after keep for whoever comes then, also if that is less than the minute for which it stays', async () => {
  const { clock, engine } = engines();
  const [one, other] = [1, 2].map(() => createLocks(engine, { clock }));
  const options = { keep: 100 } as const;
  await one!.memo<string>('key', options).run(() => 'first');
  await clock.advance(90);
  const memo = other!.memo<string>('key', options);
  const looked = await memo.peek();
  expect(looked).toMatchObject({ state: 'kept', value: 'first', until: new Date(clock.epoch() + 10) });
  expect(await memo.run(() => 'second')).toMatchObject({ value: 'first' });
  await clock.advance(11);
  expect(await memo.peek()).toMatchObject({ state: 'absent' });
  expect(await memo.run(() => 'second')).toMatchObject({ value: 'second', ran: true });
});

test('a result that is kept for 1 ms is seen for 1 ms', async () => {
  const { clock, engine } = engines();
  const memo = createLocks(engine, { clock }).memo('key', { keep: 1 });
  await memo.run(() => 1);
  await clock.advance(1);
  expect(await memo.peek()).toMatchObject({ state: 'kept' });
  await clock.advance(1);
  expect(await memo.peek()).toMatchObject({ state: 'absent' });
});

test('an old result of a refresh is over after keep, also if that is less than a minute', async () => {
  const { clock, engine } = engines();
  const memo = createLocks(engine, { clock }).memo<string>('key', { keep: 100, refresh: 50 });
  await memo.run(() => 'old');
  await clock.advance(60);
  const work = Promise.withResolvers<string>();
  const call = memo.run(() => work.promise);
  await clock.advance(60);
  work.reject(new Error('no database'));
  await expect(call).rejects.toThrow('no database');
});
