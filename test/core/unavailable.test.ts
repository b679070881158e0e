import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks, type Locks } from '../../src/index.ts';

/** What is said where a call of the engine is not answered. */
async function said(call: keyof Backend, ask: (locks: Locks) => Promise<unknown>): Promise<unknown> {
  const broken = () => Promise.reject(new Error('the connection broke'));
  await using locks = createLocks(around(memory(), { [call]: broken }), { renew: false });
  return await ask(locks).catch(({ message }) => message);
}

test('what nobody knows is told as what was asked for: only an attempt is undone', async () => {
  expect(await said('attempt', (locks) => locks.mutex('key').tryAcquire())).toContain('What it may have done is being');
  const extended = await said('renew', async (locks) => (await locks.mutex('key').acquire()).extend('1m'));
  expect(extended).toContain('The old deadline stands');
  const evicted = await said('evict', async (locks) => {
    await locks.mutex('key').acquire();
    return locks.forceRelease('key', { reason: 'a test' });
  });
  expect(evicted).toContain('Nobody knows whether a holder was evicted');
});

test('what the driver says ends its sentence once', async () => {
  const broken = () => Promise.reject(new Error('Connection is closed.'));
  await using locks = createLocks(around(memory(), { attempt: broken }));
  await expect(locks.mutex('key').tryAcquire()).rejects.toThrow(/Connection is closed\. [A-Z]/);
});
