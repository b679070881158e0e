/** Who closes a backend that several use. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { memory } from '../../src/backends/memory.ts';
import { quorum } from '../../src/backends/quorum/index.ts';
import { addUser, removeUser } from '../../src/core/contract/all-copies.ts';
import { createLocks } from '../../src/index.ts';

function counted() {
  const closed = { times: 0 };
  const engine = memory();
  const backend = around(engine, {
    close() {
      closed.times++;
      return engine.close();
    },
  });
  return { closed, backend };
}

test('a backend is closed by the last of its users, and not before', async () => {
  const { closed, backend } = counted();
  for (const users of [1, 2, 3]) {
    for (let user = 0; user < users; user++) addUser(backend);
    for (let left = users - 1; left > 0; left--) {
      await removeUser(backend);
      expect(closed.times, `${left} of ${users} still use it`).toBe(users - 1);
    }
    await removeUser(backend);
    expect(closed.times).toBe(users);
  }
});

test('of several Locks the last that is closed closes the backend', async () => {
  const { closed, backend } = counted();
  const [first, second] = [createLocks(backend), createLocks(backend)];
  await first.close();
  expect(closed.times).toBe(0);
  expect(await second.mutex('key').run(() => 'runs')).toBe('runs');
  await second.close();
  expect(closed.times).toBe(1);
});

test('a quorum is a user of its nodes: Locks beside it that are closed leave it the node', async () => {
  const { closed, backend } = counted();
  const of = quorum([backend, memory(), memory()]);
  await createLocks(backend).close();
  expect(closed.times).toBe(0);
  await of.close();
  expect(closed.times).toBe(1);
});
