/** Where uptime is told in whole seconds: each process begins at another part of one, so each test needs a clock that was loaded anew. */
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { expect, test } from 'vitest';

let loads = 0;

/** The clock of a process that begins `fraction` s after a full second, where uptime is told in whole seconds (macOS, the BSDs). */
async function inWholeSeconds(fraction: number) {
  const { uptime } = os;
  let slept = 0;
  const begin = performance.now();
  os.uptime = () => Math.floor(1_000 + fraction + slept + (performance.now() - begin) / 1_000);
  syncBuiltinESMExports();
  const anew = `../../src/core/contract/clock.ts?${++loads}`;
  const { systemClock: clock } = (await import(anew)) as typeof import('../../src/core/contract/clock.ts');
  return {
    clock,
    sleep: (seconds: number) => (slept += seconds),
    [Symbol.dispose]() {
      os.uptime = uptime;
      syncBuiltinESMExports();
    },
  };
}

test('where uptime is told in whole seconds, the clock does not leap while the machine is awake', async () => {
  using machine = await inWholeSeconds(0.6);
  const { clock } = machine;
  const apart = clock.now() - performance.now();
  await new Promise((resolve) => setTimeout(resolve, 500)); // the next full second has begun
  expect(clock.resync() - performance.now() - apart).toBeLessThan(50);
});

test.each([
  0, 0.6, 0.95,
])('where uptime is told in whole seconds, from %d s on, the clock goes on by a sleep, or by two seconds more', async (fraction) => {
  using machine = await inWholeSeconds(fraction);
  const { clock, sleep } = machine;
  const before = clock.resync();
  sleep(30);
  expect(clock.resync() - before).toBeGreaterThan(29_999);
  expect(clock.resync() - before).toBeLessThan(32_100);
});
