import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks, type LockError, type LockOptions } from '../../src/index.ts';

/** A holder in one process, and the locks of another one, whose engine may have other calls. */
async function scene(calls: (engine: Backend) => Partial<Backend> = () => ({}), options?: LockOptions) {
  const clock = manualClock();
  const engine = memory({ clock });
  const holder = await createLocks(engine, { clock, label: 'web-1' }).mutex('order:42').acquire();
  const locks = createLocks(around(engine, calls(engine)), { clock, ...options });
  const timeout = (wait: Promise<unknown>): Promise<LockError> =>
    wait.then(
      () => expect.fail('it got the lock'),
      (error) => error as LockError,
    );
  return { clock, engine, holder, locks, timeout };
}

test('without a wait a call waits 30 s, and says that this was the default, who holds and since when', async () => {
  const { clock, locks, timeout } = await scene();
  await clock.advance(12_000);
  const error = timeout(locks.mutex('order:42').acquire());
  await clock.advance(29_999);
  expect(await Promise.race([error, 'waits'])).toBe('waits');
  await clock.advance(1);
  const { code, message } = await error;
  expect(code).toBe('LOCK_TIMEOUT');
  expect(message).toMatch(/"order:42" could not be had on memory within 30 s, the default of wait: /);
  expect(message).toMatch(/"web-1" holds it, and asked for it 4[12] s ago/);
  expect(message).toMatch(/wait: '5m' or wait: 'forever'/);
});

test.each<[string, (locks: ReturnType<typeof createLocks>) => Promise<unknown>]>([
  ['a run', (locks) => locks.mutex('order:42').run(() => {})],
  ['a reader', (locks) => locks.rwLock('order:42').read.acquire()],
  ['a permit', (locks) => locks.semaphore('order:42', { permits: 2 }).acquire()],
  ['all()', (locks) => locks.all(['a', 'order:42']).acquire()],
])('%s has the same default', async (_, take) => {
  const { clock, locks, timeout } = await scene();
  const error = timeout(take(locks));
  await clock.advance(30_000);
  expect((await error).message).toMatch(/within 30 s, the default of wait: "web-1" holds it/);
  expect(clock.pending).toBeLessThan(4); // only those of the hold, and of the line that it left
});

test.each([
  ['no wait', {}],
  ['wait: 30s', { wait: '30s' }],
] as const)('a call with %s that waits for its turn inside of a run gives up after 30 s', async (_, options) => {
  const { clock, locks, timeout } = await scene();
  const mutex = locks.mutex('key');
  const error = Promise.withResolvers<LockError>();
  void mutex.run(async () => {
    await mutex.acquire(); // has its turn inside, and keeps it
    error.resolve(timeout(mutex.acquire(options)));
    await new Promise(() => {});
  });
  await clock.advance(29_999);
  expect(await Promise.race([error.promise, 'waits'])).toBe('waits');
  await clock.advance(1);
  expect(await Promise.race([error.promise, 'waits'])).toMatchObject({ code: 'LOCK_TIMEOUT' });
});

test('a wait for ever has no end, per call or for all locks', async () => {
  const { clock, holder, locks } = await scene(undefined, { wait: 'forever' });
  const lease = locks.mutex('order:42').acquire();
  const other = locks.mutex('order:42').acquire({ wait: 'forever' });
  await clock.advance(3_600_000);
  await holder.release();
  await (await lease).release();
  await (await other).release();
});

test('many callers that wait for one key ask once who holds it', async () => {
  let looks = 0;
  const { clock, locks, timeout } = await scene((engine) => ({
    inspect: (...args) => {
      looks++;
      return engine.inspect!(...args);
    },
  }));
  const errors = Array.from({ length: 100 }, () => timeout(locks.mutex('order:42').acquire()));
  await clock.advance(30_000);
  for (const error of errors) expect((await error).message).toContain('"web-1" holds it');
  expect(looks).toBe(1);
});

test.each<[string, Partial<Backend>]>([
  ['cannot list', { inspect: undefined as never }],
  [
    'does not answer that question',
    { inspect: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }) },
  ],
  [
    'refuses it',
    { inspect: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no')) }) }) },
  ],
])('an engine that %s is waited for no longer, and the error says the rest', async (_, calls) => {
  const { clock, locks, timeout } = await scene(() => calls);
  const error = timeout(locks.mutex('order:42').acquire());
  await clock.advance(30_000);
  expect((await error).message).toMatch(/the default of wait: others hold it or were first\. /);
});

test('a wait that was given asks nobody, and names no default', async () => {
  const { clock, locks, timeout } = await scene(() => ({ inspect: () => expect.fail('it asked') }));
  const error = timeout(locks.mutex('order:42').acquire({ wait: '30s' }));
  await clock.advance(30_000);
  expect((await error).message).toMatch(/within 30000 ms: others hold it or were first\. Wait longer/);
});

test('of many holders the error names three', async () => {
  const { clock, engine, locks, timeout } = await scene();
  for (let i = 1; i <= 4; i++)
    await createLocks(engine, { clock, label: `web-${i}` })
      .semaphore('seats', { permits: 4 })
      .acquire();
  const error = timeout(locks.semaphore('seats', { permits: 4 }).acquire());
  await clock.advance(30_000);
  expect((await error).message.match(/"web-\d" holds it/g)).toHaveLength(3);
});

test.each([
  [499, 1],
  [500, 2],
])('callers that ask %i ms apart who holds a key cause %i looks', async (apart, expected) => {
  let looks = 0;
  const { clock, locks, timeout } = await scene((engine) => ({
    inspect: (...args) => {
      looks++;
      return engine.inspect!(...args);
    },
  }));
  const errors = [timeout(locks.rwLock('order:42').read.acquire())];
  await clock.advance(apart);
  errors.push(timeout(locks.rwLock('order:42').read.acquire()));
  await clock.advance(30_000);
  for (const error of errors) expect((await error).message).toContain('"web-1" holds it');
  expect(looks).toBe(expected);
});

test.each<[string, (others: ReturnType<typeof createLocks>) => unknown]>([
  ['waits for it', (others) => void others.mutex('order:42').acquire({ wait: 'forever' })],
  ['holds another one', (others) => others.mutex('order:421').acquire()],
])('the error names those who hold this very key, and nobody who %s', async (_, act) => {
  const { clock, engine, locks, timeout } = await scene((own) => ({
    // As an engine lists that cannot ask for one key by its name.
    async *inspect(prefix, listing) {
      for await (const entry of own.inspect!('')) if (entry.key !== prefix) yield entry;
      yield* own.inspect!(prefix, listing);
    },
  }));
  await act(createLocks(engine, { clock, label: 'web-2' }));
  await clock.advance(1);
  const error = timeout(locks.mutex('order:42').acquire());
  await clock.advance(30_000);
  expect((await error).message).toContain('"web-1" holds it');
  expect((await error).message).not.toContain('web-2');
});

test('where the engine does not know since when a key is held, the error says only who holds it', async () => {
  const { clock, locks, timeout } = await scene((engine) => ({
    async *inspect(...args) {
      for await (const { since: _, ...entry } of engine.inspect!(...args)) yield entry as never;
    },
  }));
  const error = timeout(locks.mutex('order:42').acquire());
  await clock.advance(30_000);
  expect((await error).message).toContain(': "web-1" holds it. ');
});

test.each([
  [undefined],
  ['30s'],
] as const)('a caller with a wait of %s waits no longer for an engine whose every grant is over when it comes', async (wait) => {
  const clock = manualClock();
  const engine = memory({ clock });
  const backend = around(engine, {
    async attempt(claim) {
      const answer = await engine.attempt(claim);
      return answer.granted ? { ...answer, lost: AbortSignal.abort() } : answer;
    },
  });
  const code = createLocks(backend, { clock })
    .mutex('key')
    .acquire(wait ? { wait } : {})
    .then(
      () => 'held',
      (error: LockError) => error.code,
    );
  await clock.advance(31_000);
  expect(await Promise.race([code, 'waits'])).toBe('LOCK_TIMEOUT');
});
