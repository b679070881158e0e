/** The machine's clock on a machine whose times stand still until the test says: each test needs a clock that was loaded anew. */
import { createHook } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { expect, test } from 'vitest';

type Module = typeof import('../../src/core/contract/clock.ts');
let loads = 0;
async function anew(): Promise<Module> {
  const path = `../../src/core/contract/clock.ts?machine${++loads}`;
  return (await import(path)) as Module;
}

/** Puts `value` there, and gives what puts back what was there. */
function put<T extends object>(on: T, name: keyof T, value: unknown): () => void {
  const own = Object.getOwnPropertyDescriptor(on, name);
  Object.defineProperty(on, name, { configurable: true, writable: true, value });
  return () => (own ? Object.defineProperty(on, name, own) : Reflect.deleteProperty(on, name));
}

/** A machine that has been up for an hour. Its process is 5 s old, and its times change only where `at` says so. All in ms. */
async function machine() {
  const at = { up: 3_600_000.5, process: 5_000, wall: 1e12, origin: 1, asked: 0 };
  const back = [
    put(performance, 'now', () => at.process),
    put(performance, 'timeOrigin', at.origin),
    put(Date, 'now', () => at.wall),
    put(os, 'uptime', () => {
      at.asked++;
      return at.up / 1_000;
    }),
  ];
  syncBuiltinESMExports();
  const end = (): void => {
    for (const each of back.reverse()) each();
    syncBuiltinESMExports();
  };
  const { systemClock: clock } = await anew().catch((error) => {
    end();
    throw error;
  });
  const pass = (ms: number, asleep = 0): void => {
    at.process += ms;
    at.up += ms + asleep;
    at.wall += ms + asleep;
  };
  return { at, clock, pass, [Symbol.dispose]: end };
}

test('two clocks that differ by a quarter of a second measure badly; by more, the machine slept for that long', async () => {
  using it = await machine();
  const before = it.clock.resync();
  it.pass(1_000, 250);
  expect(it.clock.resync() - before).toBeCloseTo(1_000);
  it.pass(1_000, 1);
  expect(it.clock.resync() - before).toBeCloseTo(2_000 + 251);
  it.pass(1_000);
  expect(it.clock.resync() - before, 'no sleep is counted twice').toBeCloseTo(3_000 + 251);
  expect(it.clock.now() - before).toBeCloseTo(3_000 + 251);
});

test('a short look asks for the uptime where the time of day leapt by more than a quarter of a second, forwards or backwards', async () => {
  using it = await machine();
  it.clock.lookAgain!();
  const begun = it.at.asked;
  const looked = (leap: number): number => {
    it.pass(1_000);
    it.at.wall += leap;
    it.clock.lookAgain!();
    return it.at.asked - begun;
  };
  expect([0, 250, 1, 0, -250, -1, 0].map(looked)).toEqual([0, 0, 1, 1, 1, 2, 2]);
});

test('a process that has just begun, however long its machine is up, does not ask for the uptime again in a short look', async () => {
  using it = await machine();
  const { asked } = it.at;
  it.clock.lookAgain!();
  expect(it.at.asked).toBe(asked);
});

test('while a test has fake timers, which put another origin in place, no sleep is measured; afterwards it is', async () => {
  using it = await machine();
  const before = it.clock.now();
  it.pass(0, 60_000);
  const real = put(performance, 'timeOrigin', 7);
  expect(it.clock.resync() - before).toBe(0);
  real();
  expect(it.clock.resync() - before).toBeCloseTo(60_000);
});

test('a process that begins from a snapshot measures anew, and knows the origin of its own time', async () => {
  const clones: (() => void)[] = [];
  const startupSnapshot = {
    isBuildingSnapshot: () => true,
    addDeserializeCallback: (fn: () => void) => clones.push(fn),
  };
  const back = put(process, 'getBuiltinModule', (name: string) => (name === 'v8' ? { startupSnapshot } : undefined));
  try {
    using it = await machine();
    it.pass(0, 60_000);
    const before = it.clock.resync();
    // An hour later a process begins, on another machine that has just begun.
    Object.assign(it.at, { up: 10_000.5, process: 100, wall: it.at.wall + 3_600_000 });
    const own = put(performance, 'timeOrigin', 2);
    for (const begin of clones) begin();
    expect(it.clock.resync(), 'what was slept before stays').toBeCloseTo(before - 5_000 + 100);
    it.pass(1_000, 60_000);
    expect(it.clock.resync() - before).toBeCloseTo(60_000 - 5_000 + 1_100);
    own();
  } finally {
    back();
  }
});

test.each<[string, unknown]>([
  ['cannot give its own modules', undefined],
  ['has no v8 among them', () => undefined],
  ['has no snapshots', () => ({})],
  ['has snapshots that cannot tell', () => ({ startupSnapshot: {} })],
  ['builds no snapshot', () => ({ startupSnapshot: { isBuildingSnapshot: () => false } })],
])('the clock goes in a JavaScript that %s', async (_title, getBuiltinModule) => {
  const back = put(process, 'getBuiltinModule', getBuiltinModule);
  try {
    using it = await machine();
    const before = it.clock.now();
    it.pass(1_000);
    expect(it.clock.resync() - before).toBe(1_000);
  } finally {
    back();
  }
});

test('no timer of Node is set to more than it can take, and no timer in parts where one will do', async () => {
  const LONGEST = 2 ** 31 - 1;
  const { systemClock } = await anew();
  const set: number[] = [];
  const ends: (() => void)[] = [];
  let fired = 0;
  const back = put(globalThis, 'setTimeout', (fn: () => void, ms: number) => {
    ends.push(fn);
    return set.push(ms);
  });
  try {
    for (const ms of [LONGEST, LONGEST + 1, 2 * LONGEST + 5]) {
      systemClock.after(ms, () => fired++);
      while (ends.length > 0) ends.shift()!();
    }
  } finally {
    back();
  }
  expect(set).toEqual([LONGEST, LONGEST, 1, LONGEST, LONGEST, 5]);
  expect(fired).toBe(3);
});

test('each of the 32 digits of an id may be any, also of ids that are drawn in the same moment', async () => {
  using it = await machine();
  const ids = Array.from({ length: 600 }, () => it.clock.id());
  const drawn = Array.from({ length: 32 }, (_, place) => new Set(ids.map((id) => id[place])).size);
  expect(drawn).toEqual(Array.from({ length: 32 }, () => 16));
});

test('clones of a running machine, which draw the same at random, draw other ids a nanosecond apart', async () => {
  using it = await machine();
  const { randomBytes } = crypto;
  crypto.randomBytes = ((size: number) => Buffer.alloc(size, 0xa7)) as typeof randomBytes;
  syncBuiltinESMExports();
  try {
    const ids = Array.from({ length: 100 }, () => {
      it.at.process += 1.001e-6;
      return it.clock.id();
    });
    expect(new Set(ids).size).toBe(ids.length);
  } finally {
    crypto.randomBytes = randomBytes;
    syncBuiltinESMExports();
  }
});

test('who watches async resources, as tools for tracing do, sees contexts under the name of the package', async () => {
  const seen: string[] = [];
  const watch = createHook({ init: (_id, type) => void seen.push(type) }).enable();
  try {
    const { Context } = await anew();
    expect(seen.filter((type) => type === 'holdfast')).toHaveLength(1);
    expect(new Context().run(() => 'ran')).toBe('ran');
    expect(seen.filter((type) => type === 'holdfast')).toHaveLength(2);
  } finally {
    watch.disable();
  }
});

test('another clock keeps its short look and its turns where it has them, and gets none where it has not', async () => {
  const { withoutContext, systemClock } = await anew();
  const calls: string[] = [];
  const { lookAgain: _, turn: __, ...plain } = systemClock;
  expect(Object.keys(withoutContext(plain)).filter((name) => ['lookAgain', 'turn'].includes(name))).toEqual([]);
  const full = withoutContext({
    ...plain,
    lookAgain: () => void calls.push('look'),
    turn(fn) {
      calls.push('turn');
      fn();
    },
  });
  full.lookAgain!();
  full.turn!(() => calls.push('turned'));
  expect(calls).toEqual(['look', 'turn', 'turned']);
});
