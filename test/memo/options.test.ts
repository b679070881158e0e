/** Options of a memo, and what a call takes. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type MemoOptions } from '../../src/index.ts';

const DAY = 86_400_000;
const locks = () => createLocks(memory());

const WHOLE: Required<MemoOptions<number>> = {
  keep: '1h',
  match: { a: 1 },
  attempts: 1,
  rest: 1,
  keepError: () => false,
  refresh: '1h',
  encode: String,
  decode: Number,
  seal: { seal: (text) => text, open: (text) => text },
  wait: '1s',
  ttl: '1s',
  notice: 100,
  maxHold: '1h',
  detect: true,
  label: 'somebody',
};

test.each(Object.keys(WHOLE))('%s is an option that every memo takes', (name) => {
  const options = { keep: '1h', [name]: WHOLE[name as 'keep'] } as MemoOptions<number>;
  expect(() => locks().memo('key', options)).not.toThrow();
});

test.each([
  ['an option that there is not', { kept: '1h' }, 'kept'],
  ['keep that is none', { keep: 'soon' }, 'keep'],
  ['refresh without keep', { refresh: 1 }, 'refresh is for results that are kept'],
  ['refresh of 0', { keep: 10, refresh: 0 }, 'refresh'],
  ['refresh above keep', { keep: 10, refresh: 11 }, 'refresh'],
  ['rest of 0', { attempts: 1, rest: 0 }, 'rest'],
  ['no attempts', { attempts: 0 }, 'attempts'],
  ['half an attempt', { attempts: 1.5 }, 'attempts'],
  ['too many attempts', { attempts: 1_000_001 }, 'attempts'],
  ['encode that is none', { encode: 1 }, 'encode'],
  ['decode that is none', { decode: null }, 'decode'],
  ['keepError that is none', { keepError: 'always' }, 'keepError'],
  ['a seal that is null', { seal: null }, 'seal'],
  ['a seal that does not seal', { seal: { open: () => '' } }, 'seal'],
  ['a seal that does not open', { seal: { seal: () => '' } }, 'seal'],
])('%s is refused when the memo is made', (_, options, named) => {
  expect(() => locks().memo('key', options as MemoOptions)).toThrow(
    expect.objectContaining({ code: 'LOCK_INVALID', message: expect.stringContaining(named) }),
  );
});

test('the bounds of options are options, too', () => {
  for (const options of [
    { keep: 1, refresh: 1 },
    { attempts: 1_000_000, rest: 1 },
    { keep: 365 * DAY },
  ] satisfies MemoOptions[])
    expect(() => locks().memo('key', options)).not.toThrow();
});

test.each([
  ['an option that there is not', { waits: 1 }, 'the options of run()'],
  ['a wait that is none', { wait: -1 }, 'wait'],
  ['a signal that is none', { signal: {} }, 'signal'],
])('%s is refused when it is asked for', async (_, options, named) => {
  await expect(
    locks()
      .memo('key')
      .run(() => 1, options as never),
  ).rejects.toMatchObject({ code: 'LOCK_INVALID', message: expect.stringContaining(named) });
});

test('what is no function is refused, with the key', async () => {
  await expect(
    locks()
      .memo('key')
      .run(undefined as never),
  ).rejects.toMatchObject({ code: 'LOCK_INVALID', key: 'key' });
});

test.each([
  '1h',
  0,
] as const)('what is closed runs, shows and forgets nothing, also of what is kept (keep %s)', async (keep) => {
  const closed = locks();
  const memo = closed.memo('key', { keep });
  await memo.run(() => 1);
  await closed.close();
  for (const call of [memo.run(() => 1), memo.peek(), memo.forget()])
    await expect(call).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
});

test('where nothing can be left under a key there are no memos', () => {
  const engine = memory();
  const without = createLocks(around(engine, { traits: { ...engine.traits, values: undefined } }));
  expect(() => without.memo('key')).toThrow(
    expect.objectContaining({
      code: 'LOCK_UNSUPPORTED',
      message: expect.stringContaining('keep a result under a key'),
    }),
  );
});

test.each(['1h', 0] as const)('what is closed takes nobody to a run that goes on (keep %s)', async (keep) => {
  const clock = manualClock();
  const closed = createLocks(memory({ clock }), { clock });
  const memo = closed.memo<number>('key', { keep });
  const { promise, resolve } = Promise.withResolvers<number>();
  await memo.peek(); // loads what runs it
  const running = memo.run(() => promise);
  await clock.advance(0);
  const closing = closed.close();
  await expect(memo.run(() => 2)).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  resolve(1);
  await clock.advance(10_000);
  await closing;
  expect(await running).toMatchObject({ value: 1, ran: true });
});

test('what runs is looked for under the key alone, and only where the engine can list who holds it', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const holder = createLocks(engine, { clock });
  void holder.memo('key:longer').run(() => new Promise(() => {}));
  await clock.advance(0);
  expect(await holder.memo('key:longer').peek()).toMatchObject({ state: 'running' });
  expect(await holder.memo('key').peek()).toEqual({ state: 'absent', attempts: 0 });
  const blind = createLocks(around(engine, { inspect: undefined }), { clock });
  expect(await blind.memo('key:longer').peek()).toEqual({ state: 'absent', attempts: 0 });
});

test('a wait, a lease, a label and a notice that all locks have are those of a memo, unless it has its own', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const holder = createLocks(engine, { clock, ttl: 5_000, label: 'of all' });
  void holder.memo('key').run((run) => {
    expect(run.remaining).toBeGreaterThan(4_000);
    return new Promise(() => {});
  });
  void holder.memo('own', { ttl: 2_000, label: 'of its own' }).run((run) => {
    expect(run.remaining).toBeLessThan(2_001);
    return new Promise(() => {});
  });
  await clock.advance(0);
  expect(await holder.memo('key').peek()).toEqual({ state: 'running', attempts: 0, by: 'of all' });
  expect(await holder.memo('own').peek()).toEqual({ state: 'running', attempts: 0, by: 'of its own' });
  const waits = createLocks(engine, { clock, wait: 50 });
  const short = waits.memo('key').run(() => 1);
  const shorter = waits.memo('own', { wait: 20 }).run(() => 1);
  for (const call of [short, shorter]) call.catch(() => {});
  await clock.advance(60);
  await expect(short).rejects.toThrow('after 50 ms');
  await expect(shorter).rejects.toThrow('after 20 ms');
});

test('an error that is kept for a time is failed until then, and says when it was kept', async () => {
  const clock = manualClock();
  const own = createLocks(memory({ clock }), { clock });
  const memo = own.memo('key', { keep: '1h', keepError: () => 1_000 });
  const thrown = Object.assign(new TypeError('no'), { code: 'E_NO' });
  await memo.run(() => Promise.reject(thrown)).catch(() => {});
  const at = new Date(clock.epoch());
  await clock.advance(400);
  const state = await memo.peek();
  expect(state).toMatchObject({
    state: 'failed',
    at,
    until: new Date(at.getTime() + 1_000),
    error: {
      code: 'LOCK_FAILED',
      key: 'key',
      backend: 'memory',
      cause: { name: 'TypeError', message: 'no', code: 'E_NO' },
    },
  });
  await clock.advance(600);
  expect((await memo.run(() => 2)).value).toBe(2);
});

test('an answer of keepError that is no duration is told to the runner’s own caller only in its own words', async () => {
  const memo = locks().memo('key', { keep: '1h', keepError: () => 'soon' as never });
  await expect(memo.run(() => Promise.reject(new Error('its own')))).rejects.toThrow('its own');
});

test('where keepError gives nonsense, those who wait beside are told, and nobody runs it again', async () => {
  const clock = manualClock();
  const own = createLocks(memory({ clock }), { clock });
  const memo = own.memo('key', { keep: '1h', keepError: () => 'soon' as never });
  let runs = 0;
  const fails = (): Promise<never> => {
    runs++;
    return Promise.reject(new Error('its own'));
  };
  const [first, second] = [memo.run(fails), memo.run(fails)];
  first!.catch(() => {});
  second!.catch(() => {});
  await clock.advance(10);
  await expect(first).rejects.toThrow('its own');
  await expect(second).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  expect(runs).toBe(1);
});
