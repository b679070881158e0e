import { setTimeout as pass } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type RegisterStore, register } from '../../../src/backends/register/index.ts';
import { KeyedSerializer } from '../../../src/core/contract/promises.ts';
import { createLocks } from '../../../src/index.ts';
import { memoryStore, shared } from '../../kit/register-store.ts';

/** Longer than a lease of a second, and shorter than what a request may take where nothing presses. */
const SOON = 1_500;

/** A store that loses requests: no answer ever comes, as after a cut. */
class LosingStore {
  readonly store: RegisterStore;
  /** What is lost next. */
  losing: { readonly what: 'read' | 'write'; readonly name?: string; times: number } | undefined;
  lost = 0;

  constructor() {
    const { read, write, ...rest } = memoryStore(shared());
    this.store = {
      ...rest,
      read: (key, signal) => this.#pass('read', key) ?? read(key, signal),
      write: (key, text, ifVersion, signal) => this.#pass('write', key) ?? write(key, text, ifVersion, signal),
    };
  }

  #pass(what: 'read' | 'write', name: string): Promise<never> | undefined {
    const { losing } = this;
    if (!losing || losing.times === 0 || losing.what !== what || !name.endsWith(losing.name ?? '/l/k')) return;
    losing.times--;
    this.lost++;
    return new Promise(() => {});
  }
}

const opened = () => {
  const losing = new LosingStore();
  const locks = createLocks(register(losing.store), { ttl: 1_000 });
  return { losing, locks };
};

test.concurrent('a renewal whose request is lost is sent again in time, and the lease is kept', async () => {
  const { losing, locks } = opened();
  const lease = await locks.mutex('k').acquire();
  losing.losing = { what: 'write', times: 1 };
  await pass(2_500);
  expect(losing.lost).toBe(1);
  expect([lease.held, lease.signal.aborted]).toEqual([true, false]);
  expect(await lease.release()).toBe(true);
  await locks.close();
});

test.concurrent('a lease is kept while the request of a patient caller of its key is lost', async () => {
  const { losing, locks } = opened();
  const lease = await locks.semaphore('k', { permits: 2 }).acquire();
  losing.losing = { what: 'write', times: 1 };
  const other = locks.semaphore('k', { permits: 2 }).acquire({ ttl: '1m' });
  await pass(2_500);
  expect(losing.lost).toBe(1);
  expect([lease.held, lease.signal.aborted]).toEqual([true, false]);
  await (await other).release();
  await lease.release();
  await locks.close();
});

test.concurrent.each([
  'read',
  'write',
] as const)('where a %s of a caller is lost, others of its key wait for a part of a lease', async (what) => {
  const { losing, locks } = opened();
  losing.losing = { what, times: 1 };
  const began = performance.now();
  const first = locks.semaphore('k', { permits: 2 }).tryAcquire();
  first.catch(() => {});
  await pass(10);
  expect(losing.lost).toBe(1);
  const lease = await locks.semaphore('k', { permits: 2 }).acquire({ wait: '10s' });
  expect(performance.now() - began).toBeLessThan(SOON);
  await lease.release();
  await first.then((got) => got?.release()).catch(() => {});
  await locks.close();
});

test.concurrent('where a release is lost, the next caller of its key has it within a lease', async () => {
  const { losing, locks } = opened();
  const lease = await locks.mutex('k').acquire();
  losing.losing = { what: 'write', times: 1 };
  const began = performance.now();
  const released = lease.release();
  const next = await locks.mutex('k').acquire({ wait: '10s' });
  expect(performance.now() - began).toBeLessThan(SOON);
  expect(losing.lost).toBe(1);
  await released;
  await next.release();
  await locks.close();
});

test.concurrent('a lost renewal of one key leaves the answers of the others as they are', async () => {
  const { losing, locks } = opened();
  const leases = await Promise.all(['k', 'a', 'b'].map((key) => locks.mutex(key).acquire()));
  losing.losing = { what: 'write', times: Number.POSITIVE_INFINITY };
  await pass(2_500);
  expect(losing.lost).toBeGreaterThan(1);
  expect(leases.map(({ held }) => held)).toEqual([false, true, true]);
  losing.losing = undefined;
  for (const lease of leases) await lease.release();
  await locks.close();
});

test.concurrent('where no request is answered any more, the loss is told before the deadline', async () => {
  const { losing, locks } = opened();
  const lease = await locks.mutex('k').acquire();
  const began = performance.now();
  losing.losing = { what: 'write', times: Number.POSITIVE_INFINITY };
  const told = await new Promise<readonly [boolean, number]>((resolve) =>
    lease.signal.addEventListener('abort', () => resolve([lease.held, performance.now() - began]), { once: true }),
  );
  expect(told[0], 'held when it was told').toBe(true);
  expect(told[1]).toBeLessThan(1_000);
  losing.losing = undefined;
  await lease.release();
  await locks.close();
});

test.concurrent.each([
  'read',
  'write',
] as const)('where the first %s of a process is lost, its first caller has the lock soon after a lease', async (what) => {
  const { losing, locks } = opened();
  losing.losing = { what, name: '/proof', times: 1 };
  const began = performance.now();
  const lease = await locks.mutex('k').acquire({ wait: '10s' });
  expect(performance.now() - began).toBeLessThan(SOON);
  expect(losing.lost).toBe(1);
  await lease.release();
  await locks.close();
});

test.concurrent('races of a store that takes one write after another may last longer than a lease', async () => {
  const store = memoryStore(shared());
  const { write } = store;
  const turns = new KeyedSerializer();
  store.write = (...call) => turns.take('store', () => pass(60).then(() => write(...call)));
  const began = performance.now();
  await using locks = createLocks(register({ ...store, imitated: true }), { ttl: 1_000 });
  expect(await locks.mutex('k').run(({ held }) => held)).toBe(true);
  expect(performance.now() - began, 'longer than a lease').toBeGreaterThan(1_000);
});
