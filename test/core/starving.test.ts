import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, isLockError, type Locks } from '../../src/index.ts';

/** Longest time a test gives a loop, ms; a timer is due long before. */
const LIMIT = 2_000;

/** Runs `ask` in a loop that awaits nothing else; whether a timer of 20 ms had its turn. */
async function lets(ask: () => Promise<unknown>): Promise<boolean> {
  let fired = false;
  setTimeout(() => {
    fired = true;
  }, 20);
  const until = performance.now() + LIMIT;
  while (!fired && performance.now() < until) await ask();
  return fired;
}

const refused = (ask: (locks: Locks) => Promise<unknown>) => async (locks: Locks) => {
  try {
    await ask(locks);
  } catch (error) {
    if (!isLockError(error)) throw error;
  }
};
const aborted = AbortSignal.abort();

test.each<[string, (locks: Locks) => Promise<unknown>]>([
  ['tryAcquire beside a holder of the same process', (locks) => locks.mutex('key').tryAcquire()],
  ['a wait of 0', refused((locks) => locks.mutex('key').acquire({ wait: 0 }))],
  ['a signal that is aborted already', refused((locks) => locks.mutex('free').acquire({ signal: aborted }))],
  ['tryAcquire with options that are wrong', refused((locks) => locks.mutex('free').tryAcquire({ ttl: -1 }))],
  ['several keys, of which one is taken', (locks) => locks.all(['free', 'key']).tryAcquire()],
  ['permits that are taken', (locks) => locks.semaphore('permits', { permits: 1 }).tryAcquire()],
  ['options that are wrong', refused((locks) => locks.mutex('key').acquire({ ttl: -1 }))],
])('a loop of refusals lets timers and sockets run: %s', async (_, ask) => {
  await using locks = createLocks(memory());
  await locks.mutex('key').acquire();
  await locks.semaphore('permits', { permits: 1 }).acquire();
  expect(await lets(() => ask(locks)), `a timer, within ${LIMIT} ms`).toBe(true);
});

const inMemo = (locks: Locks, options?: object) =>
  locks.memo('memo', { keep: '1h', keepError: () => '1h' }).run(() => Promise.reject(new TypeError('kept')), options);
const never = () => new Promise<number>(() => {});

test.each<[string, (locks: Locks) => Promise<unknown>]>([
  ['a wait of 0 beside a run', (locks) => locks.memo('slow').run(() => 1, { wait: 0 })],
  ['another request than that of the run', (locks) => locks.memo('slow', { match: 'another' }).run(() => 1)],
  ['a signal that is aborted already', (locks) => locks.memo('free').run(() => 1, { signal: aborted })],
  ['an error that is kept', inMemo],
])('a loop of refused memos lets timers and sockets run: %s', async (_, ask) => {
  const locks = createLocks(memory());
  void locks
    .memo('slow', { match: 'one' })
    .run(never)
    .catch(() => {});
  await inMemo(locks).catch(() => {});
  expect(await lets(() => ask(locks).catch(() => {})), `a timer, within ${LIMIT} ms`).toBe(true);
  await locks.close();
});

test('a loop of refusals lets timers and sockets run: an engine in the same process', async () => {
  const engine = memory();
  await using locks = createLocks(engine);
  await using others = createLocks(engine);
  await others.mutex('key').acquire();
  expect(await lets(() => locks.mutex('key').tryAcquire()), `a timer, within ${LIMIT} ms`).toBe(true);
});

test('a loop of refusals lets timers and sockets run: closed Locks', async () => {
  const locks = createLocks(memory());
  await locks.close();
  expect(await lets(() => refused(({ mutex }) => mutex.call(locks, 'key').acquire())(locks))).toBe(true);
});

test('a loop of refusals lets timers and sockets run: a turn that is taken inside a frame', async () => {
  await using locks = createLocks(memory());
  const mutex = locks.mutex('key');
  await mutex.run(async () => {
    await mutex.acquire();
    expect(await lets(() => mutex.tryAcquire()), `a timer, within ${LIMIT} ms`).toBe(true);
  });
});

test('a single refusal does not wait for the event loop', async () => {
  await using locks = createLocks(memory());
  await locks.mutex('key').acquire();
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  expect(await locks.mutex('key').tryAcquire()).toBeNull();
  expect(turned).toBe(false);
});
