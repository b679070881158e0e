import { randomBytes } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { mock } from 'node:test';
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { systemClock, withoutContext } from '../../src/core/contract/clock.ts';

const HOUR = 3_600_000;

/** Timers of Node that fire when they are told to. */
function timers() {
  mock.timers.enable({ apis: ['setTimeout'] });
  return {
    /** By the hour: a timer that is armed meanwhile begins at the end of its hour. */
    days(count: number): void {
      for (let hour = 0; hour < count * 24; hour++) mock.timers.tick(HOUR);
    },
    [Symbol.dispose]: () => mock.timers.reset(),
  };
}

test('a timer of sixty days, longer than those of Node, fires once and when they are over', () => {
  using time = timers();
  let fired = 0;
  systemClock.after(60 * 24 * HOUR, () => fired++);
  time.days(59.9);
  expect(fired, 'before').toBe(0);
  time.days(0.2);
  expect(fired, 'when they are over').toBe(1);
  time.days(100);
  expect(fired, 'later').toBe(1);
});

test.each([1, 30, 59])('a timer of sixty days can be cancelled on day %i', (day) => {
  using time = timers();
  let fired = 0;
  const cancel = systemClock.after(60 * 24 * HOUR, () => fired++);
  time.days(day);
  cancel();
  time.days(100);
  expect(fired).toBe(0);
});

/** ms for which the machine has slept in all: the clock never forgets one, so each test adds its own. */
let slept = 0;

/** A machine that slept for `ms`: its uptime counts that, the clock of its processes does not. A negative `ms` puts it behind for a while. */
function asleep(ms: number) {
  const { uptime } = os;
  slept += Math.max(0, ms);
  const all = slept + Math.min(0, ms);
  os.uptime = () => uptime() + all / 1_000;
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      os.uptime = uptime;
      syncBuiltinESMExports();
    },
  };
}

test('on a machine that did not sleep, a look at the time changes nothing', () => {
  const before = systemClock.now();
  expect(systemClock.resync() - before).toBeLessThan(400);
});

test('the clock goes on by as long as the machine slept, once it looks, and once only', () => {
  const before = systemClock.resync();
  using _ = asleep(HOUR);
  expect(systemClock.now() - before, 'before it looks').toBeLessThan(60_000);
  const after = systemClock.resync();
  expect(after - before).toBeGreaterThan(HOUR - 400);
  expect(after - before).toBeLessThan(HOUR + 400);
  expect(systemClock.now()).toBeGreaterThanOrEqual(after);
  expect(systemClock.resync() - after, 'when it looks again').toBeLessThan(400);
});

test('a sleep of half a second is found, and is no more than that', () => {
  const before = systemClock.resync();
  using _ = asleep(500);
  expect(systemClock.resync() - before).toBeGreaterThanOrEqual(450);
  expect(systemClock.now() - before).toBeLessThan(900);
});

test('the clock does not go back where the second one falls behind it', () => {
  const before = systemClock.now();
  using _ = asleep(-100);
  expect(systemClock.resync()).toBeGreaterThanOrEqual(before);
  expect(systemClock.now()).toBeGreaterThanOrEqual(before);
});

test('a short look tells of a sleep by the clock on the wall', () => {
  systemClock.resync();
  const before = systemClock.now();
  using _ = asleep(HOUR);
  systemClock.lookAgain!();
  expect(systemClock.now() - before, 'while the clock on the wall is as it was').toBeLessThan(60_000);
  const { now } = Date;
  Date.now = () => now() + HOUR;
  try {
    systemClock.lookAgain!();
  } finally {
    Date.now = now;
  }
  expect(systemClock.now() - before).toBeGreaterThan(HOUR - 400);
  expect(systemClock.now() - before, 'a whole second more').toBeLessThan(HOUR + 400);
});

test('a short look asks for the uptime once for each leap of the clock on the wall', () => {
  const { uptime } = os;
  const { now } = Date;
  let asked = 0;
  os.uptime = () => {
    asked++;
    return uptime();
  };
  syncBuiltinESMExports();
  systemClock.resync();
  Date.now = () => now() + HOUR;
  try {
    const counts = [asked];
    for (let look = 0; look < 3; look++) {
      systemClock.lookAgain!();
      counts.push(asked);
    }
    expect(counts).toEqual([1, 2, 2, 2]);
  } finally {
    Date.now = now;
    os.uptime = uptime;
    syncBuiltinESMExports();
    systemClock.resync();
  }
});

test('ids have 128 bits each, and none comes twice, over many of them', () => {
  const ids = Array.from({ length: 10_000 }, () => systemClock.id());
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

test('an id takes a fraction of the time of a call of the generator: one caller on memory draws 300,000 a second', () => {
  const timeOf = (draw: () => string): number => {
    const began = performance.now();
    for (let i = 0; i < 5_000; i++) draw();
    return performance.now() - began;
  };
  const rounds = Array.from({ length: 10 }, () => [
    timeOf(systemClock.id),
    timeOf(() => randomBytes(16).toString('hex')),
  ]);
  const [id, call] = [0, 1].map((which) => Math.min(...rounds.map((round) => round[which]!))) as [number, number];
  expect(id / call).toBeLessThan(0.5);
});

test('a timer of the background keeps no process alive, and others do', () => {
  const handles = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = handles();
  const cancels = [systemClock.after(60_000, () => {}, true)];
  expect(handles() - before, 'of the background').toBe(0);
  cancels.push(systemClock.after(60_000, () => {}));
  expect(handles() - before, 'of a waiter').toBe(1);
  for (const cancel of cancels) cancel();
  expect(handles() - before, 'cancelled').toBe(0);
});

test('where timers are numbers, as in a page, they are set and cancelled all the same', async () => {
  const own = setTimeout;
  const fired: string[] = [];
  const numbered = (...given: Parameters<typeof own>) => Number(own(...given));
  globalThis.setTimeout = numbered as unknown as typeof setTimeout;
  try {
    systemClock.after(1, () => fired.push('cancelled'), true)();
    await new Promise<void>((resolve) => systemClock.after(1, resolve, true));
  } finally {
    globalThis.setTimeout = own;
  }
  await new Promise((resolve) => setTimeout(resolve, 2));
  expect(fired).toEqual([]);
});

test('a clock without a time of day has that of the machine, and one that has its own keeps it', () => {
  const { epoch: _, ...clock } = manualClock();
  expect(Math.abs(withoutContext(clock).epoch() - Date.now())).toBeLessThan(1_000);
  expect(withoutContext({ ...clock, epoch: () => 7 }).epoch()).toBe(7);
  expect(withoutContext(systemClock)).toBe(systemClock);
});

test('a turn of the clock comes once, and not at once', async () => {
  const turns: string[] = [];
  await new Promise<void>((resolve) => {
    systemClock.turn!(() => {
      turns.push('turned');
      resolve();
    });
    turns.push('asked');
  });
  await new Promise((later) => setImmediate(later));
  expect(turns).toEqual(['asked', 'turned']);
});
