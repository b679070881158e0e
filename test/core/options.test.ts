import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { LayeredOptions, spin } from '../../src/core/contract/option-table.ts';
import { allOf, checkGiven, checkNames, type LockOptions, namesOf } from '../../src/core/contract/options.ts';
import { withWaitUntil } from '../../src/core/contract/terms.ts';
import type { Traits } from '../../src/core/contract/traits.ts';
import { createLocks, LockError } from '../../src/index.ts';

const { traits } = memory();
const resolved = (options: LockOptions, own = traits) => new LayeredOptions(own, options).terms;

test('what is not given is what the reference says', () => {
  expect(resolved({})).toEqual({
    wait: 30_000,
    isDefaultWait: true,
    ttl: 30_000,
    renew: true,
    maxHold: Infinity,
    minHold: 0,
    delay: 0,
    notice: 3_000,
    adaptive: undefined,
    spin: { pause: 10, jitter: 0.5, bound: 1_000 },
    signal: undefined,
    label: `${hostname()}:${process.pid}`,
    awaitRelease: true,
    handOff: { max: 64, within: 10, linger: 0 },
    reentrant: true,
    onLoss: 'tell',
    detect: false,
    lengths: { lease: 30_000, hold: 30_000, waiter: 32_525, place: undefined },
  });
});

test('a hold that lingers, however shortly, passes on as often as tokens are reserved, unless it says otherwise', () => {
  const usual = { max: 64, within: 10, linger: 0 };
  expect(resolved({ handOff: { linger: 0 } }).handOff).toEqual(usual);
  expect(resolved({ handOff: { linger: 1 } }).handOff).toEqual({ ...usual, max: 1_023, linger: 1 });
  expect(resolved({ handOff: { linger: 1_000, max: 5 } }).handOff).toEqual({ ...usual, max: 5, linger: 1_000 });
  expect(() => resolved({ handOff: { linger: 1_001 } })).toThrow(/handOff\.linger is 1001; it must be from 0 ms/);
});

test('no lease is allowed of which nothing is left at once, whatever the engine says', async () => {
  const clock = manualClock();
  const lock = createLocks(memory({ clock }), { clock }).mutex('key');
  for (const ttl of [0.1, 1, 2]) await expect(lock.acquire({ ttl })).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  await using lease = await lock.acquire({ ttl: 3 });
  expect(lease.held).toBe(true);
  await expect(lease.extend(2)).rejects.toMatchObject({ code: 'LOCK_INVALID' });
});

describe('an option that is out of its bounds is refused with its name, the value and the bounds', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ wait: -1 }, 'wait is -1; it must be from 0 ms'],
    [{ wait: 'soon' }, 'wait is "soon"; give milliseconds'],
    [
      { wait: Number.POSITIVE_INFINITY },
      "wait is Infinity; it must be from 0 ms to 1 year; for no limit give 'forever'",
    ],
    [{ ttl: 0 }, 'ttl is 0; it must be from'],
    [{ ttl: 2 }, 'ttl is 2; it must be from 3 ms'],
    [{ maxHold: 0 }, 'maxHold is 0; it must be from 1 ms'],
    [{ minHold: -1 }, 'minHold is -1; it must be from 0 ms'],
    [{ delay: -1 }, 'delay is -1; it must be from 0 ms'],
    [{ ttl: 1_000, notice: 667 }, 'notice is 667; it must be from 0 ms to 666 ms'],
    [{ ttl: 1_000, adaptive: { cap: 999 } }, 'adaptive.cap is 999; it must be from 1 s'],
    [{ renew: 'yes' }, 'renew is "yes"; it must be true or false'],
    [{ reentrant: 1 }, 'reentrant is 1; it must be true or false'],
    [{ detect: 0 }, 'detect is 0; it must be true or false'],
    [{ awaitRelease: 'no' }, 'awaitRelease is "no"; it must be true or false'],
    [{ signal: {} }, 'signal is an object; it must be an AbortSignal'],
    [{ onLoss: 'both' }, 'onLoss is "both"; it must be "tell" or "throw"'],
    [{ onLoss: '' }, 'onLoss is ""; it must be "tell" or "throw"'],
    [{ adaptive: { group: '', cap: 60_000 } }, 'a group must not be empty'],
    [{ adaptive: { group: 7, cap: 60_000 } }, 'a group must be a string, not 7'],
    [{ label: [] }, 'label is an array; it must be well-formed text of at most 128 characters'],
    [{ label: 7 }, 'label is 7; it must be well-formed text of at most 128 characters'],
    [{ label: 'x'.repeat(129) }, 'it must be well-formed text of at most 128 characters'],
    [{ label: '\ud800' }, 'it must be well-formed text of at most 128 characters'],
    [{ handOff: { max: 0 } }, 'handOff.max is 0; it must be a whole number from 1 to 1023'],
    [{ handOff: { max: 1_024 } }, 'handOff.max is 1024; it must be a whole number from 1 to 1023'],
    [{ handOff: { within: -1 } }, 'handOff.within is -1; it must be from 0 ms'],
    [{ handOff: { most: 2 } }, '"most" is not one of handOff options; there are max, within, linger'],
    [{ handOff: true }, 'handOff options must be an object, not true'],
    [{ spin: { pause: 0 } }, 'spin.pause is 0; it must be from 1 ms to 1 min'],
    [{ spin: { pause: 60_001 } }, 'spin.pause is 60001; it must be from 1 ms to 1 min'],
    [{ spin: { pause: 50, bound: 49 } }, 'spin.bound is 49; it must be from 50 ms to 1 min'],
    [{ spin: { bound: 60_001 } }, 'spin.bound is 60001; it must be from 10 ms to 1 min'],
    [{ spin: { jitter: -0.1 } }, 'spin.jitter is -0.1; it must be from 0 to 1'],
    [{ spin: { jitter: 1.1 } }, 'spin.jitter is 1.1; it must be from 0 to 1'],
    [{ spin: { jitter: '1' } }, 'spin.jitter is "1"; it must be from 0 to 1'],
    [{ spin: { delay: 1 } }, '"delay" is not one of spin options; there are pause, jitter, bound'],
    [{ adaptive: { capp: 1 } }, '"capp" is not one of adaptive options; there are group, cap'],
    [{ renew: true, adaptive: { cap: 60_000 } }, 'adaptive is for leases that are not renewed: leave renew out'],
  ])('%j', (options, message) => {
    const refused = (): unknown => resolved(options as LockOptions);
    expect(refused).toThrow(LockError);
    expect(refused).toThrow(message);
    expect(refused).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
  });
});

test.each<[LockOptions, Record<string, unknown>]>([
  [{ wait: 'forever' }, { wait: Infinity, isDefaultWait: false }],
  [{ maxHold: 1 }, { maxHold: 1 }],
  [{ ttl: 1_000, notice: 666 }, { notice: 666 }],
  [{ ttl: 1_000, notice: 0 }, { notice: 0 }],
  [{ ttl: 1_005 }, { notice: 100 }],
  [
    { ttl: 1_000, adaptive: { cap: 1_000 } },
    { adaptive: { group: undefined, cap: 1_000 }, renew: false },
  ],
  [{ adaptive: { group: 'reports', cap: 60_000 } }, { adaptive: { group: 'reports', cap: 60_000 } }],
  [{ label: 'x'.repeat(128) }, { label: 'x'.repeat(128) }],
  [{ handOff: false }, { handOff: { max: 0, within: 0, linger: 0 } }],
  [{ handOff: { linger: '5ms' } }, { handOff: { max: 1_023, within: 10, linger: 5 } }],
  [{ handOff: { max: 1_023 } }, { handOff: { max: 1_023, within: 10, linger: 0 } }],
  [{ handOff: { max: 1, within: '1s' } }, { handOff: { max: 1, within: 1_000, linger: 0 } }],
  [{ spin: { jitter: 0 } }, { spin: { pause: 10, jitter: 0, bound: 1_000 } }],
  [{ spin: { jitter: 1, pause: 60_000 } }, { spin: { pause: 60_000, jitter: 1, bound: 60_000 } }],
  [{ spin: { pause: 1, bound: 1 } }, { spin: { pause: 1, jitter: 0.5, bound: 1 } }],
])('an option at its bound is taken: %j', (options, expected) => {
  expect(resolved(options)).toMatchObject(expected);
});

test('an engine that can reserve no tokens never passes a hold on', () => {
  expect(resolved({ handOff: { max: 5 } }, { ...traits, tokenBlocks: false }).handOff).toEqual({
    max: 0,
    within: 0,
    linger: 0,
  });
});

test('the pauses that an engine would rather have are the usual ones of its waiters, with the usual jitter', () => {
  const slow = { ...traits, spin: { pause: 200, bound: 5_000 } };
  expect(resolved({}, slow).spin).toEqual({ pause: 200, jitter: 0.5, bound: 5_000 });
  expect(resolved({ spin: { pause: 300 } }, slow).spin).toEqual({ pause: 300, jitter: 0.5, bound: 5_000 });
});

test('where an engine keeps no queue, nobody asks for a place in it, however patient', () => {
  const patient: LockOptions = { ttl: 90_000, spin: { bound: '8s' } };
  expect(resolved(patient).lengths.place).toBe(24_000);
  expect(resolved(patient, { ...traits, fair: false }).lengths).toMatchObject({ place: undefined, waiter: 90_000 });
});

test('a claim lasts longer while it waits only where its waiter may be admitted without an answer: told of its turn, under a lease', () => {
  const waits = (own: Partial<Traits>): boolean => {
    const { hold, waiter } = resolved({}, { ...traits, ...own }).lengths;
    return waiter > hold;
  };
  expect([waits({ wakes: 'watch' }), waits({ wakes: 'buffered' }), waits({ wakes: 'never' })]).toEqual([
    true,
    true,
    false,
  ]);
  expect(waits({ wakes: 'watch', lifetime: 'session' })).toBe(false);
});

test('a lease that nobody chose fits the engine and the delay', () => {
  const short = { ...traits, ttl: { min: 2_000, max: 20_000 } };
  expect(resolved({}, short).ttl).toBe(20_000);
  expect(resolved({ delay: 5_000 }, short).ttl).toBe(15_000);
  expect(resolved({}, { ...traits, ttl: { min: 40_000, max: 90_000 } }).ttl).toBe(40_000);
});

test('the nearest layer wins, and what it leaves undefined stays as it was', () => {
  const layers = new LayeredOptions(traits, { ttl: 5_000, wait: 7 });
  expect(layers.with(undefined)).toBe(layers);
  expect(layers.with({ ttl: undefined, wait: 9 }).terms).toMatchObject({ ttl: 5_000, wait: 9 });
  expect(() => layers.with({ tll: 1 } as never)).toThrow('"tll" is not one of lock options; there are wait, ttl');
  expect(() => layers.with({ wait: null } as never)).toThrow('wait is null; give a value or leave it out');
});

test('options that may be left out may be undefined, and those that may not say what there is', () => {
  const names = namesOf<{ url?: string; key?: string }>({ url: true, key: true });
  expect(() => checkNames(undefined, names, 'options')).not.toThrow();
  expect(() => checkNames(null, names, 'options')).toThrow('options must be an object, not null');
  expect(() => checkGiven(undefined, names, 'options')).toThrow('options are missing; there are url, key');
  expect(() => checkGiven({ uri: 1 }, names, 'options')).toThrow('"uri" is not one of options');
  expect(() => checkGiven({ url: 1 }, names, 'options')).not.toThrow();
});

test('the rest of a wait is never more than there is, in whole ms, and never none', () => {
  const options = resolved({ wait: 100 });
  expect(withWaitUntil(options, 100, 40.2).wait).toBe(60);
  expect(withWaitUntil(options, 100, 100).wait).toBe(1);
  const once = resolved({ wait: 0 });
  expect(withWaitUntil(once, 100, 40)).toBe(once);
});

test('spin options are checked where they are given by themselves, too', () => {
  expect(spin(undefined)).toEqual({ pause: 10, jitter: 0.5, bound: 1_000 });
});

test.each([
  [-5, 'ttl'],
  ['5 seconds', 'wait'],
])('createLocks() refuses what no call could use: %j', (value, name) => {
  expect(() => createLocks(memory(), { clock: manualClock(), [name]: value })).toThrow(`${name} is `);
});

test.each([
  [undefined, 'undefined'],
  [null, 'null'],
  ['redis://127.0.0.1', '"redis://127.0.0.1"'],
  [{ attempt: true }, 'an object'],
])('createLocks() says that %j is no backend', (given, shown) => {
  const refused = (): unknown => createLocks(given as never);
  expect(refused).toThrow(`was given ${shown}, not a backend; make one with memory()`);
  expect(refused).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
});

test('the names of several lists of options are the names of all of them', () => {
  const [some, others] = [namesOf<{ a?: 1 }>({ a: true }), namesOf<{ b?: 1; c?: 1 }>({ b: true, c: true })];
  expect([...allOf(some, others)]).toEqual(['a', 'b', 'c']);
});
