import { setTimeout as realPause } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';

afterEach(() => vi.useRealTimers());
const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('after fake timers, whose clock was behind, a hold from then is told to be lost when somebody looks', async () => {
  await using locks = createLocks(memory());
  vi.useFakeTimers({ now: 0, toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  const lease = await locks.mutex('a', { ttl: 20 }).acquire();
  let told: unknown;
  lease.signal.addEventListener('abort', () => {
    told = lease.signal.reason;
  });
  vi.useRealTimers();
  await pass(Math.max(50, 1_100 - performance.now())); // more than a second after its deadline
  expect(lease.held, 'its deadline is over, whatever fires').toBe(false);
  await pass(0);
  expect(told).toMatchObject({ code: 'LOCK_LOST' });
});

test('after fake timers, which never fire again, later holds are renewed', async () => {
  await using locks = createLocks(memory());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const before = await locks.mutex('a', { ttl: 900 }).acquire();
  vi.useRealTimers();
  await pass(1_600); // the timer is more than a second late
  const lease = await locks.mutex('b', { ttl: 900 }).acquire();
  await pass(1_500);
  expect(lease.held, 'a hold of more than a lease ago').toBe(true);
  expect(before.held).toBe(false);
  await lease.release();
});

test('a hold from before fake timers is looked at while they are there, and goes on when they are gone', async () => {
  await pass(Math.max(0, 1_600 - performance.now())); // the process is older than the lease, and than what is no sleep
  await using locks = createLocks(memory());
  const lease = await locks.mutex('a', { ttl: 1_500 }).acquire();
  vi.useFakeTimers();
  expect(lease.held, 'by fake timers').toBe(true);
  vi.useRealTimers();
  expect([lease.held, lease.signal.aborted], 'when they are gone').toEqual([true, false]);
  expect(lease.remaining).toBeGreaterThan(1_000);
  await pass(2_000);
  expect([lease.held, lease.signal.aborted], 'more than a lease later').toEqual([true, false]);
});

test('a hold from before fake timers whose renewal they swallowed is renewed once somebody looks, or told to be lost', async () => {
  await using locks = createLocks(memory());
  const lease = await locks.mutex('a', { ttl: 900 }).acquire();
  vi.useFakeTimers();
  await realPause(500); // the timer of before fires, and is set again as a fake one
  vi.useRealTimers();
  expect(lease.held, 'when they are gone').toBe(true);
  await pass(1_500);
  expect(lease.held).toBe(!lease.signal.aborted);
  await pass(20);
  expect(lease.held, 'or its signal tells').toBe(!lease.signal.aborted);
});
