/** All callers of a memo get the same, the runner too: a value of its own each, or the reason why there is none. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { LockEvent } from '../../src/core/contract/events.ts';
import { createLocks, type LockError, type MemoOptions } from '../../src/index.ts';
import { heard } from '../core/heard.ts';
import { warned } from './warned.ts';

class Row {
  readonly id = 7n;
  readonly at = new Date(5);
  get shown(): string {
    return `${this.id}`;
  }
}
const cycle: Record<string, unknown> = { rows: [] };
cycle.rows = [{ of: cycle }];

/** A runner, one that waits beside it, one that waits in another process, and one that comes later. */
async function callers(key: string, fn: () => unknown, options: MemoOptions = { keep: '1h' }) {
  const clock = manualClock();
  const engine = memory({ clock });
  const [one, other] = ['one', 'other'].map((label) => createLocks(engine, { clock, label }).memo(key, options));
  const ends = Promise.withResolvers<void>();
  const running = one!.run(async () => {
    await ends.promise;
    return fn();
  });
  await clock.advance(1);
  const calls = { runner: running, beside: one!.run(fn), elsewhere: other!.run(fn) };
  for (const call of Object.values(calls)) call.catch(() => {});
  await clock.advance(10);
  ends.resolve();
  await clock.advance(10);
  const later = other!.run(() => expect.fail('it is run again'));
  const results = await Promise.allSettled([...Object.values(calls), later]);
  return { memo: other!, results };
}
const values = async (made: ReturnType<typeof callers>): Promise<unknown[]> =>
  (await made).results.map((result) => (result.status === 'fulfilled' ? result.value.value : result.reason));

let warnings: ReturnType<typeof warned>;
beforeEach(() => {
  warnings = warned();
});
afterEach(() => warnings[Symbol.dispose]());

/** A key warns once in a process, so each time another key. */
let keys = 0;

test.each<[string, unknown, unknown?]>([
  ['a date', { at: new Date(5) }],
  ['a bigint', [1n]],
  ['undefined', { a: undefined }],
  ['nothing', undefined],
  ['numbers that JSON lacks', [Number.NaN, -0, Number.NEGATIVE_INFINITY]],
  ['a map of sets', new Map([[1, new Set(['a'])]])],
  ['bytes', Buffer.from([1, 2, 255])],
  ['a typed array', new Float64Array([0.5])],
  ['an error', new RangeError('no')],
  ['an instance of a class', new Row(), { id: 7n, at: new Date(5) }],
  ['what has a toJSON', new URL('https://a.example/b'), 'https://a.example/b'],
])('%s is had by all, each as a value of its own', async (title, value, plain = value) => {
  const had = await values(callers(title, () => value));
  for (const each of had) {
    expect(each).toStrictEqual(plain);
    if (typeof each === 'object') expect(each, 'it is of the runner').not.toBe(value);
  }
  expect(warnings.told).toEqual([]);
});

describe.each<[string, unknown, string, string]>([
  ['a function', { rows: [{ save: () => 1 }] }, 'LOCK_INVALID', 'value.rows[0].save is a function'],
  ['a cycle', cycle, 'LOCK_INVALID', 'value.rows[0].of contains itself'],
  ['a promise', [Promise.resolve()], 'LOCK_INVALID', 'value[0] is an instance of Promise'],
  ['70 kB', 'x'.repeat(70_000), 'LOCK_TOO_LARGE', 'has 70'],
])('of a result with %s', (title, value, code, why) => {
  test('every caller is told that it cannot be kept, and why, the runner too, and nobody runs again', async () => {
    const { results } = await callers(`all: ${title}`, () => value);
    const reasons = results.map((result) => (result as PromiseRejectedResult).reason as LockError);
    for (const reason of reasons)
      expect(reason).toMatchObject({ code, key: `all: ${title}`, message: expect.stringContaining(why) });
    expect(new Set(reasons.map(({ message }) => message)).size, 'different messages').toBe(1);
  });

  test('a warning tells once per key', async () => {
    const key = `once ${++keys}: ${title}`;
    for (let time = 0; time < 2; time++) await callers(key, () => value, {});
    expect(warnings.told).toEqual([expect.stringMatching(/^HoldfastUnkeptWarning: /)]);
    expect(warnings.told[0]).toContain(`"${key}"`);
    expect(warnings.told[0]).toContain(why);
    await callers(`${key}, another`, () => value);
    expect(warnings.told).toHaveLength(2);
  });

  test('its state is failed, for a look and for events, and not kept', async () => {
    using events = heard('left', 'answered');
    const { memo } = await callers(`state: ${title}`, () => value);
    expect(await memo.peek()).toMatchObject({ state: 'failed', error: { code } });
    expect(new Set(events.events.map((event) => (event as LockEvent).state))).toEqual(new Set(['failed']));
  });
});

/** Fails without a result that could be kept. @returns whether that was a warning */
async function warns(key: string): Promise<boolean> {
  const before = warnings.told.length;
  const memo = createLocks(memory()).memo(key, { keepError: () => 'soon' as never });
  await memo.run(() => Promise.reject(new Error('no'))).catch(() => {});
  return warnings.told.length > before;
}

test('a key that had a warning has none again until a thousand keys had one: a process does not remember all of them', async () => {
  const key = `again ${++keys}`;
  /** The number of other keys, up to a new warning of this one. */
  const others = async (): Promise<number> => {
    for (let count = 1; count < 3_000; count++) {
      await warns(`other ${++keys}`);
      if (await warns(key)) return count;
    }
    return expect.fail('it remembers any number of keys');
  };
  expect(await warns(key)).toBe(true);
  await others(); // fewer, if there were others before
  expect(await others(), 'with itself a thousand').toBe(999);
});

test('a value that decode() does not take is refused to all, the runner too', async () => {
  const decode = (): never => {
    throw new SyntaxError('no');
  };
  for (const reason of await values(callers('decode', () => 1, { keep: '1h', decode })))
    expect(reason).toMatchObject({ code: 'LOCK_INVALID', message: expect.stringContaining('decode() threw') });
});

test('what encode() and decode() make of a value is had by the runner, too', async () => {
  const encode = (value: unknown): string => `${value}`;
  const had = await values(callers('encode', () => 1, { keep: '1h', encode, decode: (text) => `<${text}>` }));
  expect(had).toEqual(Array(4).fill('<1>'));
});

test('a refresh whose result cannot be kept leaves the old one for all, the runner too', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const [one, other] = [1, 2].map(() => createLocks(engine, { clock }));
  const options = { keep: '10m', refresh: '1m' } as const;
  await one!.memo<unknown>('refresh', options).run(() => 'old');
  await clock.advance(120_000);
  using failures = heard('refreshFailed');
  expect(await one!.memo<unknown>('refresh', options).run(() => () => 1)).toMatchObject({ value: 'old', ran: false });
  expect(failures.events).toMatchObject([
    { error: { code: 'LOCK_INVALID', message: expect.stringContaining('value is') } },
  ]);
  expect(await other!.memo('refresh', options).peek()).toMatchObject({ state: 'kept', value: 'old' });
});

test('a value that cannot be kept is refused to its runner also where its lease was lost', async () => {
  const locks = createLocks(memory());
  const ends = Promise.withResolvers<void>();
  const running = locks.memo<unknown>('lost').run(async ({ signal }) => {
    signal.addEventListener('abort', () => ends.resolve());
    await ends.promise;
    return () => 1;
  });
  await expect.poll(() => locks.memo('lost').peek()).toMatchObject({ state: 'running' });
  await locks.forceRelease('lost', { reason: 'a test' });
  await locks.close();
  await expect(running).rejects.toMatchObject({ code: 'LOCK_INVALID' });
});
