/** What ends the wait of one caller, and what that leaves. */
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { channels } from '../../src/core/contract/events.ts';
import { createLocks } from '../../src/index.ts';
import { loaded } from './loaded.ts';
import { standing } from './standing.ts';

const NEVER = new Promise<never>(() => {});

/** Two processes over one engine, the second of which may have another way to it. */
async function pair(way: (engine: Backend) => Backend = (engine) => engine) {
  const clock = manualClock();
  const engine = memory({ clock });
  const [first, second] = [engine, way(engine)].map((each) => createLocks(each, { clock, ttl: 3_000 }));
  for (const each of [first!, second!]) await loaded(each);
  return { clock, engine, first: first!, second: second! };
}

test('a signal that was aborted before is heard, and nothing runs', async () => {
  const { second } = await pair();
  let runs = 0;
  const call = second.memo('key', { keep: '1h' }).run(() => ++runs, { signal: AbortSignal.abort('enough') });
  await expect(call).rejects.toMatchObject({ code: 'LOCK_ABORTED', key: 'key', cause: 'enough' });
  expect(runs).toBe(0);
});

test('who has its result, or an error, leaves no timer and no listener', async () => {
  const { clock, first } = await pair();
  await first.memo('used', { keep: '1h' }).run(() => 0); // what goes on from then on
  await clock.advance(0);
  const idle = clock.pending;
  const ends = [
    { fn: () => 1, code: undefined },
    { fn: () => Promise.reject(new Error('no')), code: undefined },
  ];
  for (const [i, { fn }] of ends.entries()) {
    const { signal } = new AbortController();
    const call = first.memo(`key ${i}`, { keep: '1h' }).run(fn as () => number, { signal, wait: '1m' });
    expect(getEventListeners(signal, 'abort').length, 'listeners while it waits').toBeLessThanOrEqual(1);
    await call.catch(() => {});
    await clock.advance(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(clock.pending, 'timers').toBe(idle);
  }
});

test('who has the result of another one leaves no timer and no listener', async () => {
  const { clock, first } = await pair();
  await first.memo('used', { keep: '1h' }).run(() => 0); // what goes on from then on
  await clock.advance(0);
  const idle = clock.pending;
  const { signal } = new AbortController();
  const { promise, resolve } = Promise.withResolvers<number>();
  const memo = first.memo<number>('key', { keep: '1h' });
  const running = memo.run(() => promise);
  const waiting = memo.run(() => 2, { signal, wait: '1m' });
  await clock.advance(10);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  resolve(1);
  await clock.advance(0);
  expect([await running, await waiting]).toMatchObject([{ value: 1 }, { value: 1, ran: false }]);
  expect({ timers: clock.pending, listeners: getEventListeners(signal, 'abort') }).toEqual({
    timers: idle,
    listeners: [],
  });
});

test('while its own function runs, the wait of a caller has no end and no timer', async () => {
  const { clock, first } = await pair();
  const { promise, resolve } = Promise.withResolvers<number>();
  const call = (wait?: number) => first.memo<number>(`key ${wait}`, { keep: '1h' }).run(() => promise, { wait });
  const without = call();
  await clock.advance(0);
  const timers = clock.pending;
  const limited = call(30);
  await clock.advance(0);
  expect(clock.pending - timers, 'as many as without a limit').toBe(0);
  await clock.advance(100);
  resolve(1);
  await clock.advance(0);
  expect([await without, await limited]).toMatchObject([{ value: 1 }, { value: 1 }]);
});

test('a wait without an end has no timer; one of 1 ms ends', async () => {
  const { clock, first, second } = await pair();
  void first.memo('key', { keep: '1h' }).run(() => NEVER);
  await clock.advance(0);
  const waits = second.memo('key', { keep: '1h' });
  void waits.run(() => 1).catch(() => {});
  await clock.advance(0);
  const before = clock.pending;
  const endless = waits.run(() => 1, { wait: 'forever' });
  expect(clock.pending).toBe(before);
  const short = waits.run(() => 1, { wait: 1 });
  short.catch(() => {});
  await clock.advance(1);
  await expect(short).rejects.toMatchObject({
    code: 'LOCK_TIMEOUT',
    key: 'key',
    message: expect.stringContaining('after 1 ms. It was not run here'),
  });
  await first.forceRelease('key', { reason: 'tried' });
  await clock.advance(10_000);
  expect(await endless).toMatchObject({ value: 1 });
});

test('without a wait a caller is told so at once, and has a result that is kept, or that it makes', async () => {
  const late = (engine: Backend): Backend =>
    around(engine, {
      values: {
        forget: (key) => engine.values!.forget(key),
        look: async (key) => {
          await new Promise<void>((resolve) => void clock.after(20, resolve));
          return engine.values!.look(key);
        },
      },
    });
  let clock = manualClock();
  const { first, second, ...rest } = await pair(late);
  clock = rest.clock;
  await first.memo('kept', { keep: '1h' }).run(() => 'kept');
  void first.memo('running', { keep: '1h' }).run(() => NEVER);
  await clock.advance(0);
  const [kept, made, running] = ['kept', 'absent', 'running'].map((key) =>
    second.memo(key, { keep: '1h' }).run(() => 'made', { wait: 0 }),
  );
  running!.catch(() => {});
  await clock.advance(25);
  expect(await kept).toMatchObject({ value: 'kept', ran: false, kept: true });
  expect(await made).toMatchObject({ value: 'made', ran: true });
  await expect(running).rejects.toMatchObject({
    code: 'LOCK_TIMEOUT',
    message: expect.stringContaining('another one is at it, and wait is 0'),
  });
});

test('a wait that ends before the engine has answered anything says that nobody knows', async () => {
  const silent = (engine: Backend): Backend =>
    around(engine, {
      attempt: () => NEVER,
      values: { forget: (key) => engine.values!.forget(key), look: () => NEVER },
    });
  const { clock, second } = await pair(silent);
  for (const keep of ['1h', 0] as const) {
    const call = second.memo(`key ${keep}`, { keep }).run(() => 1, { wait: 30 });
    call.catch(() => {});
    await clock.advance(30);
    await expect(call).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      key: `key ${keep}`,
      backend: 'memory',
      message: expect.stringContaining('did not answer within 30 ms'),
    });
  }
});

test.each([
  '1h',
  1,
] as const)('a wait that ends after one answer of the engine is a wait that ended, also where a result is kept for %s', async (keep) => {
  const { clock, second } = await pair((engine) => around(engine, { attempt: () => NEVER }));
  const call = second.memo('key', { keep }).run(() => 1, { wait: 30 });
  call.catch(() => {});
  await clock.advance(30);
  await expect(call).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
});

test('a caller that gives up in the moment of its grant runs nothing, and leaves the key free', async () => {
  const { clock, engine, second } = await pair();
  const controller = new AbortController();
  const abort = (): void => controller.abort('enough');
  channels.acquired.subscribe(abort);
  let runs = 0;
  const call = second.memo('key', { keep: '1h' }).run(() => ++runs, { signal: controller.signal });
  call.catch(() => {});
  await clock.advance(10);
  channels.acquired.unsubscribe(abort);
  await expect(call).rejects.toMatchObject({ code: 'LOCK_ABORTED', cause: 'enough' });
  expect({ runs, standing: await standing(engine, 'key') }).toEqual({ runs: 0, standing: [] });
});

test('where the look fails, those without a wait are told why', async () => {
  const away = (engine: Backend): Backend =>
    around(engine, {
      attempt: () => NEVER,
      values: { forget: (key) => engine.values!.forget(key), look: () => Promise.reject(new Error('away')) },
    });
  const { clock, second } = await pair(away);
  const memo = second.memo('key', { keep: '1h' });
  const waiting = memo.run(() => 1, { wait: 5_000 });
  const impatient = memo.run(() => 1, { wait: 0 });
  waiting.catch(() => {});
  impatient.catch(() => {});
  await clock.advance(1);
  await expect(impatient).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(5_000);
  await expect(waiting).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
});

test('where nothing is kept, those of the process without a wait do not wait for the first', async () => {
  const { clock, first } = await pair();
  for (const keep of ['1h', 0] as const) {
    const memo = first.memo<number>(`key ${keep}`, { keep });
    const { promise, resolve } = Promise.withResolvers<number>();
    const running = memo.run(() => promise);
    const beside = memo.run(() => 2, { wait: 0 });
    beside.catch(() => {});
    await clock.advance(0);
    await expect(beside).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    await expect(memo.run(() => 2, { wait: 0 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    resolve(1);
    expect((await running).value).toBe(1);
  }
});

test('who gives up leaves no place in the line', async () => {
  const { clock, engine, first, second } = await pair();
  void first.memo('key', { keep: '1h' }).run(() => NEVER);
  await clock.advance(0);
  const controller = new AbortController();
  const call = second.memo('key', { keep: '1h' }).run(() => 1, { signal: controller.signal });
  call.catch(() => {});
  await clock.advance(0);
  const places = async (): Promise<number> => (await standing(engine, 'key')).length;
  expect(await places()).toBe(2);
  controller.abort();
  await clock.advance(10);
  expect(await places()).toBe(1);
});

test('a caller that comes in the moment in which the last one gives up has its result', async () => {
  const { clock, first, second } = await pair();
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = first.memo<string>('key', { keep: '1h' }).run(() => promise);
  await clock.advance(0);
  const memo = second.memo<string>('key', { keep: '1h' });
  const controller = new AbortController();
  const givesUp = memo.run(() => 'of another', { signal: controller.signal });
  await clock.advance(0);
  // It has to be there before the claim of the first is withdrawn, and the way to it is one turn of a promise.
  const comes = memo.run(() => 'of another', { signal: new AbortController().signal });
  controller.abort();
  await expect(givesUp).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
  const last = memo.run(() => 'of another');
  await clock.advance(0);
  resolve('the result');
  await clock.advance(3_000);
  expect([await running, await comes, await last].map(({ value }) => value)).toEqual(Array(3).fill('the result'));
});

test('callers that come at any turn after the last one gave up have a result', async () => {
  for (let turns = 0; turns < 12; turns++) {
    const { clock, first, second } = await pair();
    const { promise, resolve } = Promise.withResolvers<string>();
    void first.memo<string>('key', { keep: '1h' }).run(() => promise);
    await clock.advance(0);
    const memo = second.memo<string>('key', { keep: '1h' });
    const controller = new AbortController();
    const givesUp = memo.run(() => 'of another', { signal: controller.signal });
    givesUp.catch(() => {});
    await clock.advance(0);
    controller.abort();
    for (let i = 0; i < turns; i++) await Promise.resolve();
    const comes = memo.run(() => 'of another');
    comes.catch(() => {});
    await clock.advance(0);
    resolve('the result');
    await clock.advance(3_000);
    expect(await comes, `after ${turns} turns`).toMatchObject({ value: 'the result', ran: false });
  }
});
