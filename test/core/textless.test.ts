/** Errors without a text: JavaScript may throw anything, and Node leaves the message empty where a name has several addresses. */
import { createConnection } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { reasonOf } from '../../src/core/contract/errors.ts';
import { callListener } from '../../src/core/contract/promises.ts';
import { createLocks } from '../../src/index.ts';

/** What JavaScript may throw, and has no text: the groups of a match and a parsed query string have no prototype. */
const TEXTLESS: Record<string, () => unknown> = {
  'an object without a prototype': () => Object.create(null),
  'an error whose message is an object': () => Object.assign(new Error('x'), { message: { code: 5 } }),
  'an error without a message': () => Object.assign(new Error('x'), { message: undefined }),
};

test.each(Object.keys(TEXTLESS))('the reason of %s can be told', (name) => {
  expect(() => reasonOf(TEXTLESS[name]!())).not.toThrow();
});

test.each(Object.keys(TEXTLESS))('a listener of the user that throws %s harms nobody', async (name) => {
  const warned: string[] = [];
  const { emitWarning } = process;
  process.emitWarning = ((text: string) => void warned.push(text)) as typeof emitWarning;
  const throws = (): never => {
    throw TEXTLESS[name]!();
  };
  const found = await uncaught(async () => {
    expect(() => callListener('onError', throws, 0)).not.toThrow();
    callListener('onError', async () => throws(), 0);
  }).finally(() => {
    process.emitWarning = emitWarning;
  });
  expect(found, 'it would end the process').toEqual([]);
  expect(warned).toHaveLength(2);
});

test.each(
  Object.keys(TEXTLESS),
)('a function that ends with %s after its lock was lost gets LOCK_LOST, as every other does', async (name) => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const locks = createLocks(engine, { clock, ttl: 900, onLoss: 'throw' });
  const work = locks.mutex('key').run(async (lease) => {
    await engine.evict!('key', lease.token);
    await clock.advance(2_000);
    throw TEXTLESS[name]!();
  });
  await expect(work).rejects.toMatchObject({ code: 'LOCK_LOST', outcome: { status: 'rejected' } });
});

test.each(
  Object.keys(TEXTLESS),
)('a driver that fails with %s makes LOCK_UNAVAILABLE of it, as of every other failure', async (name) => {
  const clock = manualClock(1);
  const broken = around(memory({ clock }), { attempt: () => Promise.reject(TEXTLESS[name]!()) });
  const locks = createLocks(broken, { clock });
  const ended = expect(locks.mutex('key').acquire({ wait: 500 })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await clock.advance(60_000);
  await ended;
});

/** What nobody could catch while `work` ran: it would end the process. */
async function uncaught(work: () => Promise<void>): Promise<unknown[]> {
  const found: unknown[] = [];
  const note = (error: unknown): void => void found.push(error);
  const names = ['unhandledRejection', 'uncaughtException'] as const;
  const before = names.map((name) => process.listeners(name as never));
  for (const name of names) process.removeAllListeners(name).on(name, note);
  try {
    await work();
    await turn();
    await turn();
  } finally {
    names.forEach((name, i) => {
      process.off(name, note);
      for (const each of before[i]!) process.on(name, each as never);
    });
  }
  return found;
}

const CASES = ['plain', ...Object.keys(TEXTLESS)].flatMap((name) =>
  (['renew', 'release', 'inspect', 'evict'] as const).map((call) => [call, name] as const),
);
test.each(CASES)('an engine whose %s fails with %s ends no process', async (call, name) => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const fails = () => Promise.reject(name === 'plain' ? new Error('plain') : TEXTLESS[name]!());
  const listing = async function* () {
    yield await fails();
  };
  const broken = around(engine, { [call]: call === 'inspect' ? listing : fails } as never);
  const locks = createLocks(broken, { clock, ttl: 900 });
  const found = await uncaught(async () => {
    const lease = await locks.mutex('key').acquire();
    if (call === 'inspect') {
      const listed = async () => {
        for await (const _ of locks.inspect()) break;
      };
      await expect(listed()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    }
    if (call === 'evict') {
      const forced = locks.forceRelease('key', { reason: 'a test' });
      const ended = expect(forced).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      await clock.advance(20_000);
      await ended;
    }
    await clock.advance(2_000);
    if (call === 'renew') expect(lease.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
    const released = lease.release().catch(() => {});
    await clock.advance(20_000);
    await released;
  });
  expect(found).toEqual([]);
});

/** What Node gives where a name has several addresses, such as localhost, and nobody listens at any: its message is empty. */
const refused = (): Promise<Error> =>
  new Promise((resolve) => {
    const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
    const lookup = (_: string, __: unknown, done: (error: null, all: typeof addresses) => void) =>
      done(null, addresses);
    createConnection({ port: 1, host: 'two.test', lookup: lookup as never, autoSelectFamily: true }).on(
      'error',
      resolve,
    );
  });

test('a server whose name has two addresses, of which none answers, is told of with a reason', async () => {
  const error = await refused();
  expect(error).toBeInstanceOf(AggregateError);
  expect(error.message, 'as Node makes it').toBe('');
  expect(reasonOf(error)).toMatch(/ECONNREFUSED/);
});

test('the error of a wait says why the engine could not be asked, also where its error has no words', async () => {
  const clock = manualClock(1);
  const error = await refused();
  const locks = createLocks(around(memory({ clock }), { attempt: () => Promise.reject(error) }), { clock });
  const ended = locks
    .mutex('key')
    .acquire({ wait: 500 })
    .catch((failure: Error) => failure.message);
  await clock.advance(60_000);
  expect(await ended).toMatch(/within 500 ms: .*ECONNREFUSED.*\. What/);
});
