import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Locks } from '../../src/index.ts';

type Act = (locks: Locks, signal: AbortSignal) => unknown;

const timesOut = async (waiting: Promise<unknown>): Promise<void> =>
  void (await expect(waiting).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' }));

/** Every call that takes a signal, and the ways in which it ends while the signal lives on. */
const ACTS: Readonly<Record<string, Act>> = {
  'a lock that is had': async (locks, signal) => (await locks.mutex('free').acquire({ signal })).release(),
  'a try': (locks, signal) => locks.mutex('taken').tryAcquire({ signal }),
  'a wait that ends': (locks, signal) => timesOut(locks.mutex('taken').acquire({ signal, wait: 20 })),
  run: (locks, signal) => locks.mutex('free').run(() => 1, { signal }),
  'run, whose function fails': (locks, signal) =>
    locks
      .mutex('free')
      .run(() => Promise.reject(new Error('mine')), { signal })
      .catch(() => {}),
  'several keys': (locks, signal) => locks.all(['free', 'other']).run(() => 1, { signal }),
  'several keys, of which one is taken': (locks, signal) =>
    timesOut(locks.all(['free', 'taken']).acquire({ signal, wait: 20 })),
  once: (locks, signal) => locks.once('job', new Date(), () => 1, { signal }),
  'once, with retry': (locks, signal) => locks.once('again', new Date(), () => 1, { signal, retry: true }),
  'once, for another’s tick': async (locks, signal) => {
    const tick = new Date();
    await locks.once('twice', tick, () => 1);
    await locks.once('twice', tick, () => 1, { signal });
  },
  'a leader that leads one term': (locks, signal) =>
    locks.leader('l', { autoCampaign: false }).run(() => 1, { signal }),
  'an observation that nobody iterates': (locks, signal) => locks.leader('l').observe({ signal }),
  'an observation that ends before its first value is asked for': (locks, signal) =>
    locks.leader('l').observe({ signal })[Symbol.asyncIterator]().return!(),
  'an observation that ends after its first value': async (locks, signal) => {
    for await (const _ of locks.leader('l').observe({ signal })) break;
  },
};

test.each(Object.entries(ACTS))('%s leaves no listener on the signal of the caller', async (_, act) => {
  await using locks = createLocks(memory());
  await locks.mutex('taken').acquire();
  const { signal } = new AbortController();
  await act(locks, signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('a signal of an observation that is none is LOCK_INVALID, at once', () => {
  const locks = createLocks(memory());
  expect(() => locks.leader('l').observe({ signal: 5 as never })).toThrow(/signal is 5; it must be an AbortSignal/);
});
