import { afterAll, beforeAll, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks } from '../../src/index.ts';

/** As somebody may write a backend in JavaScript: what it gives is not what the types say. */
type Odd = (engine: Backend) => Record<string, unknown>;
const odd = (): never => {
  throw new Error('odd');
};
const rejects = (): Promise<never> => Promise.reject(new Error('odd'));
const twice = () => ({
  // biome-ignore lint/suspicious/noThenProperty: a promise of somebody's own making
  then(_: unknown, reject: (error: unknown) => void) {
    reject(new Error('once'));
    reject(new Error('twice'));
  },
});

const ODD: Readonly<Record<string, Odd>> = {
  'throws at an attempt': () => ({ attempt: odd }),
  'gives an attempt at once': () => ({ attempt: () => ({ granted: false, retryAfter: 5 }) }),
  'gives a grant at once': () => ({ attempt: () => ({ granted: true, token: 1n, validFor: 2_000 }) }),
  'gives nothing for an attempt': () => ({ attempt: async () => undefined }),
  'gives a grant with a signal that is none': (engine) => ({
    attempt: async (claim: never) => ({ ...(await engine.attempt(claim)), lost: {} }),
  }),
  'rejects an attempt twice': () => ({ attempt: twice }),
  'throws at a renewal': () => ({ renew: odd }),
  'gives nothing for a renewal': () => ({ renew: async () => undefined }),
  'gives one answer for all renewals': () => ({ renew: async () => 'gone' }),
  'gives nulls for renewals': () => ({ renew: async () => [null] }),
  'rejects a renewal twice': () => ({ renew: twice }),
  'throws at a release': () => ({ release: odd }),
  'gives nothing for a release': () => ({ release: async () => undefined }),
  'rejects a release twice': () => ({ release: twice }),
  'throws when it is asked why it does not answer': () => ({ attempt: () => new Promise(() => {}), obstacle: odd }),
  'throws when it is asked whether it has ended': () => ({ attempt: rejects, release: rejects, ended: odd }),
  'throws at a watch': () => ({ watch: odd }),
  'rejects a watch': () => ({ watch: rejects }),
  'rejects a watch twice': () => ({ watch: twice }),
  'gives a watch that cannot be disposed of': () => ({ watch: () => ({}) }),
  'gives a watch whose end throws': () => ({ watch: () => ({ [Symbol.asyncDispose]: odd }) }),
  'gives a watch whose end rejects': () => ({ watch: async () => ({ [Symbol.asyncDispose]: rejects }) }),
  'gives a watch whose end gives nothing': () => ({ watch: () => ({ [Symbol.asyncDispose]() {} }) }),
  'throws at a watch of a hold': () => ({ watchHold: odd }),
  'rejects a watch of a hold twice': () => ({ watchHold: twice }),
  'gives nothing for a watch of a hold': () => ({ watchHold: () => undefined }),
  'gives a watch of a hold that cannot be disposed of': () => ({ watchHold: () => ({}) }),
  'throws at its notes': () => ({ hints: { read: odd, write: odd } }),
  'rejects its notes': () => ({ hints: { read: rejects, write: rejects } }),
  'reads no text from its notes': () => ({ hints: { read: async () => 5, write: async () => {} } }),
  'throws at an inspection': () => ({ inspect: odd }),
  'gives an inspection that cannot be ended': () => ({
    inspect: () => ({ [Symbol.asyncIterator]: () => ({ next: rejects, return: () => 5 }) }),
  }),
  'throws at a check': () => ({ check: odd }),
  'throws when it is closed': () => ({ close: odd }),
  'rejects when it is closed': () => ({ close: rejects }),
  'never closes': () => ({ close: () => new Promise(() => {}) }),
};

const unheard: unknown[] = [];
const hear = (error: unknown): void => void unheard.push(error);
beforeAll(() => void process.on('unhandledRejection', hear));
afterAll(() => void process.off('unhandledRejection', hear));

test.each(
  Object.entries(ODD),
)('a backend that %s ends no process, and every call to its Locks ends', async (_, calls) => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const client = around(engine, calls(engine) as Partial<Backend>);
  const locks = createLocks(client, { clock, ttl: 2_000, wait: 4_000 });
  const work = (): Promise<void> => new Promise((resolve) => clock.after(1_500, resolve));
  const listing = async (): Promise<void> => {
    for await (const _ of locks.inspect()) break;
  };
  const calling = Promise.allSettled([
    locks.mutex('key').run(work),
    locks.mutex('key').run(work, { handOff: false }),
    locks.mutex('key').tryAcquire(),
    locks.mutex('other').run(work, { adaptive: { cap: 5_000 } }),
    locks.all(['key', 'third']).run(work),
    (async () => listing())(),
    locks.check(),
  ]);
  let over = 0;
  void calling.then(() => over++);
  await clock.advance(40_000);
  expect(over, 'everything that was asked ended').toBe(1);
  void locks
    .close()
    .catch((error) => expect(error).toMatchObject({ code: 'LOCK_UNAVAILABLE' }))
    .then(() => over++);
  await clock.advance(40_000);
  expect(over, 'closing ended').toBe(2);
  expect(unheard.splice(0).map(String)).toEqual([]);
});
