/** Who closes a backend that several use. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { memory } from '../../src/backends/memory.ts';
import { quorum } from '../../src/backends/quorum/index.ts';
import { addUser, removeUser } from '../../src/core/contract/all-copies.ts';
import { type Backend, createLocks } from '../../src/index.ts';

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

test('who closes a backend waits until it is closed', async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const backend = around(memory(), { close: () => end });
  addUser(backend);
  let closed = false;
  const removed = removeUser(backend).then(() => {
    closed = true;
  });
  await turn();
  expect(closed).toBe(false);
  resolve();
  await removed;
});

test('a user that nobody counted closes the backend, and those who come later are counted as ever', async () => {
  const { closed, backend } = counted();
  await removeUser(backend);
  expect(closed.times).toBe(1);
  for (let user = 0; user < 2; user++) addUser(backend);
  await removeUser(backend);
  expect(closed.times, 'one still uses it').toBe(1);
  await removeUser(backend);
  expect(closed.times).toBe(2);
});

test('copies of any version count the users of a backend together, under a name that never changes', () => {
  const backend = memory();
  const users = (globalThis as { [name: symbol]: unknown })[Symbol.for('holdfast.users')] as WeakMap<Backend, number>;
  for (let user = 0; user < 2; user++) addUser(backend);
  expect(users.get(backend)).toBe(2);
});

test('a quorum that is closed twice is one user of its nodes, and takes none from Locks that use the node, too', async () => {
  const { closed, backend } = counted();
  const locks = createLocks(backend);
  const of = quorum([backend, memory(), memory()]);
  await of.close();
  await of.close();
  expect(closed.times, 'the Locks still use it').toBe(0);
  await locks.close();
  expect(closed.times).toBe(1);
});

test('after a quorum was closed twice, later users of its node are counted as ever', async () => {
  const { closed, backend } = counted();
  const of = quorum([backend, memory(), memory()]);
  await of.close();
  await of.close();
  closed.times = 0;
  const [first, second] = [createLocks(backend), createLocks(backend)];
  await first.close();
  expect(closed.times, 'the second still uses it').toBe(0);
  await second.close();
  expect(closed.times).toBe(1);
});
