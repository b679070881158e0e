import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks } from '../../src/index.ts';
import { around } from '../../src/testing/around.ts';
import { manualClock } from '../../src/testing/index.ts';
import { heard } from './heard.ts';

function setup(calls: Partial<Backend> = {}) {
  const clock = manualClock();
  const engine = memory({ clock });
  return { clock, locks: createLocks(around(engine, calls), { clock }) };
}
const REASON = { reason: 'the worker hangs' };

test.each<[Partial<Backend>, string]>([
  [{ evict: undefined }, '"memory" cannot evict a holder'],
  [{ inspect: undefined }, '"memory" cannot list its locks'],
])('an engine that cannot is not asked to: %j', async (calls, message) => {
  const { locks } = setup(calls);
  await expect(locks.forceRelease('key', REASON)).rejects.toMatchObject({
    code: 'LOCK_UNSUPPORTED',
    backend: 'memory',
    message: expect.stringContaining(message),
  });
});

test.each<[string, unknown, unknown, string]>([
  ['no key', '', REASON, 'LOCK_INVALID'],
  ['no reason', 'key', {}, 'LOCK_INVALID'],
  ['no options', 'key', undefined, 'LOCK_INVALID'],
  ['an empty reason', 'key', { reason: '' }, 'LOCK_INVALID'],
  ['a ticket that is a number', 'key', { ...REASON, ticket: 1 }, 'LOCK_INVALID'],
  ['a misspelt ticket', 'key', { ...REASON, token: 1n }, 'LOCK_INVALID'],
])('with %s nobody is evicted', async (_, key, options, code) => {
  const { locks } = setup();
  const lease = await locks.mutex('key').acquire();
  await expect(locks.forceRelease(key as string, options as never)).rejects.toMatchObject({ code });
  expect(lease.held).toBe(true);
});

test('holders of this very key are evicted, or the one with the ticket, and that is told', async () => {
  using events = heard('forced');
  const { clock, locks } = setup();
  const readers = await Promise.all([1, 2].map(() => locks.rwLock('key').read.acquire()));
  const other = await locks.mutex('key2').acquire();
  const tickets: bigint[] = [];
  for await (const { ticket, key } of locks.inspect('key')) if (key === 'key') tickets.push(ticket);
  expect(await locks.forceRelease('key', { ...REASON, ticket: tickets[0]! })).toBe(1);
  expect(await locks.forceRelease('key', REASON)).toBe(1);
  expect(await locks.forceRelease('key', REASON)).toBe(0);
  const told = { version: 1, locks: locks.number, backend: 'memory', key: 'key', ...REASON };
  expect(events.events).toEqual([
    { ...told, evicted: 1 },
    { ...told, evicted: 1 },
    { ...told, evicted: 0 },
  ]);
  await clock.advance(30_000);
  expect(readers.map(({ held }) => held)).toEqual([false, false]);
  expect(other.held).toBe(true);
});

test('one key is asked for by its name', async () => {
  const asked: unknown[] = [];
  const { clock } = setup();
  const engine = memory({ clock });
  const backend = around(engine, {
    inspect(prefix, listing) {
      asked.push([prefix, listing?.exact]);
      return engine.inspect!(prefix, listing);
    },
  });
  await createLocks(backend, { clock }).forceRelease('key', REASON);
  expect(asked).toEqual([['key', true]]);
});
