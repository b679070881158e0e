/** Callers that wait behind a hold of their own process that nobody renews: only a claim of theirs finds out that the engine has taken it back. */
import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Traits } from '../../src/core/contract/backend.ts';
import { listOf } from '../../src/core/contract/promises.ts';
import { type AnyLease, createLocks, type Lock, type LockOptions, type Locks } from '../../src/index.ts';

const HOUR = 3_600_000;

function setup(more: Partial<Traits> = {}) {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const asked: string[] = [];
  const backend = around(engine, {
    traits: { ...engine.traits, ...more },
    watchHold: undefined, // nobody is notified of an eviction
    attempt(claim) {
      asked.push(claim.label.split('~')[0]!);
      return engine.attempt(claim);
    },
  });
  return { clock, asked, locks: createLocks(backend, { clock }), others: createLocks(engine, { clock }) };
}

/** The lease, if it is there already. */
const given = (lease: Promise<AnyLease>): Promise<AnyLease | undefined> =>
  Promise.race([lease, Promise.resolve(undefined)]);
const force = (locks: Locks) => locks.forceRelease('key', { reason: 'the worker hangs' });

describe.each(['buffered', 'watch', 'never'] as const)('where wakes are %s', (wakes) => {
  test.each<[string, LockOptions]>([
    ['that does not renew', { ttl: HOUR, renew: false }],
    ['whose maxHold is over', { ttl: HOUR, maxHold: 10 }],
  ])('after a forced release of a hold %s, a waiter of its process has the key within seconds, and the holder is told', async (_, options) => {
    const { clock, locks, others } = setup({ wakes });
    const mutex = locks.mutex('key');
    const lease = await mutex.acquire(options);
    const waiting = mutex.acquire();
    const later = mutex.acquire();
    await clock.advance(1_000);
    expect(await force(others)).toBe(1);
    await clock.advance(4_000);
    const next = await given(waiting);
    expect(next?.held, 'the waiter holds').toBe(true);
    expect(lease.held, 'the hold that was released by force').toBe(false);
    const message = expect.stringContaining('it was released by force: "the worker hangs"');
    expect(lease.signal.reason).toMatchObject({ code: 'LOCK_LOST', message });
    await next!.release();
    await clock.advance(1_000);
    expect((await given(later))?.held, 'the one behind it').toBe(true);
  });

  test('so does one that begins to wait after it, and one that waits while the hold begins', async () => {
    const { clock, locks, others } = setup({ wakes });
    const mutex = locks.mutex('key', { ttl: HOUR, renew: false });
    const blocking = await others.mutex('key').acquire();
    const first = mutex.acquire();
    const second = mutex.acquire();
    await clock.advance(10);
    await blocking.release();
    await clock.advance(1_500);
    expect((await given(first))?.held).toBe(true);
    await force(others);
    await clock.advance(4_000);
    expect((await given(second))?.held).toBe(true);
    await force(others);
    await clock.advance(100);
    const third = mutex.acquire();
    await clock.advance(4_000);
    expect((await given(third))?.held).toBe(true);
  });

  test('a permit that was released by force goes to a waiter, while the others are held', async () => {
    const { clock, locks, others } = setup({ wakes });
    const semaphore: Lock<AnyLease> = locks.semaphore('key', { permits: 2, ttl: HOUR, renew: false });
    await semaphore.acquire();
    await semaphore.acquire();
    const waiting = [semaphore.acquire(), semaphore.acquire()];
    let got = 0;
    for (const each of waiting) void each.then(() => got++);
    const standings = await listOf(others.inspect('key'));
    await others.forceRelease('key', { reason: 'one hangs', token: standings[0]!.token });
    await clock.advance(10_000);
    expect(got).toBe(1);
    await force(others);
    await clock.advance(10_000);
    expect(got, 'after all were released by force').toBe(2);
  });
});

test('of many that wait so, one at a time stands in the line of the engine; of those behind a renewed hold none', async () => {
  const { clock, asked, locks } = setup();
  for (const renew of [false, true]) {
    const mutex = locks.mutex(`key ${renew}`);
    await mutex.acquire({ renew, ttl: HOUR });
    for (let i = 0; i < 5; i++) mutex.acquire({ label: `${renew} ${i}` }).catch(() => {});
  }
  await clock.advance(20_000);
  expect(new Set(asked.slice(2))).toEqual(new Set(['false 0']));
});

test('when all waiters have given up, nothing keeps the process alive', async () => {
  const clock = manualClock(1);
  let kept = 0;
  const { after } = clock;
  clock.after = (ms, fn, background) => {
    if (background) return after(ms, fn);
    kept++;
    const over = () => kept-- && undefined;
    const cancel = after(ms, () => {
      over();
      fn();
    });
    let ended = false;
    return () => {
      if (!ended) over();
      ended = true;
      cancel();
    };
  };
  const locks = createLocks(memory({ clock }), { clock });
  const mutex = locks.mutex('key');
  const lease = await mutex.acquire({ ttl: HOUR, renew: false });
  const giveUp = new AbortController();
  const waiting = mutex.acquire({ signal: giveUp.signal }).catch(() => 'gave up');
  await clock.advance(100);
  expect(kept, 'timers while one waits').toBeGreaterThan(0);
  giveUp.abort();
  expect(await waiting).toBe('gave up');
  await clock.advance(100);
  expect(kept, 'timers when nobody waits').toBe(0);
  await lease.release();
});

test('a process waits for a hold of its own that ends by itself, though nothing else keeps it alive', async () => {
  const url = (path: string) => JSON.stringify(pathToFileURL(new URL(`../../src/${path}`, import.meta.url).pathname));
  const script = (options: string) => `
    const { createLocks } = await import(${url('index.ts')});
    const { memory } = await import(${url('backends/memory.ts')});
    const mutex = createLocks(memory()).mutex('key');
    await mutex.acquire(${options});
    const next = await mutex.acquire({ renew: false });
    console.log('held', next.held);
  `;
  for (const options of ["{ ttl: '1s', renew: false }", "{ ttl: '600ms', maxHold: '400ms' }"]) {
    const ended = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script(options)]).catch(
      (error: { code: number; stderr: string }) => error,
    );
    expect(ended, `after a hold with ${options}`).toMatchObject({ stdout: 'held true\n' });
  }
});

test('a hold that is over is no more in question: who waits behind a later one that is renewed asks the engine for nothing', async () => {
  const { clock, asked, locks } = setup();
  const mutex = locks.mutex('key');
  await (await mutex.acquire({ ttl: HOUR, renew: false, label: 'first' })).release();
  const lease = await mutex.acquire({ label: 'second' });
  const waiting = mutex.acquire({ label: 'waits' });
  await clock.advance(20_000);
  expect(asked).not.toContain('waits');
  await lease.release();
  await clock.advance(100);
  await (await waiting).release();
});

test('a waiter that stood in the line of the engine so, and gives up, leaves it to the next one to find out', async () => {
  const { clock, locks, others } = setup();
  const mutex = locks.mutex('key');
  await mutex.acquire({ ttl: HOUR, renew: false });
  const giveUp = new AbortController();
  const first = expect(mutex.acquire({ signal: giveUp.signal })).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
  const second = mutex.acquire();
  await clock.advance(3_000);
  giveUp.abort();
  await first;
  await clock.advance(3_000);
  expect(await given(second), 'while it is held').toBeUndefined();
  await force(others);
  await clock.advance(4_000);
  expect((await given(second))?.held).toBe(true);
});

test('behind a hold that is renewed for a while nobody asks the engine before that is over', async () => {
  const { clock, asked, locks, others } = setup();
  const mutex = locks.mutex('key');
  await mutex.acquire({ ttl: HOUR, maxHold: 9_000 });
  const waiting = mutex.acquire({ label: 'waits' });
  await clock.advance(8_900);
  expect(asked).not.toContain('waits');
  await clock.advance(3_000);
  expect(asked).toContain('waits');
  await force(others);
  await clock.advance(3_000);
  expect((await given(waiting))?.held).toBe(true);
});

test('who comes when all that waited have given up finds out, too', async () => {
  const { clock, locks, others } = setup();
  const mutex = locks.mutex('key');
  await mutex.acquire({ ttl: HOUR, renew: false });
  const first = expect(mutex.acquire({ wait: 500 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  await clock.advance(1_000);
  await first;
  const second = mutex.acquire();
  await force(others);
  await clock.advance(4_000);
  expect((await given(second))?.held).toBe(true);
});

test('a caller that waits behind a hold that is renewed keeps no process alive, whatever was held before', async () => {
  const { clock, locks } = setup();
  const mutex = locks.mutex('key');
  await (await mutex.acquire({ ttl: HOUR, renew: false })).release();
  await mutex.acquire();
  const kept: number[] = [];
  const { after } = clock;
  clock.after = (ms, fn, background = false) => {
    if (!background) kept.push(ms);
    return after(ms, fn);
  };
  void mutex.acquire({ wait: 'forever' });
  await clock.advance(5_000);
  expect(kept).toEqual([]);
});

test('a caller that waits so asks the engine after two seconds, since most holds are released before', async () => {
  const { clock, asked, locks } = setup();
  const mutex = locks.mutex('key');
  await mutex.acquire({ ttl: HOUR, renew: false });
  mutex.acquire({ label: 'waits' }).catch(() => {});
  await clock.advance(1_999);
  expect(asked).not.toContain('waits');
  await clock.advance(1);
  expect(asked).toContain('waits');
});

test('a grant whose answer comes late ends itself, and not the hold that the engine granted after it', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const backend = around(engine, {
    watchHold: undefined,
    async attempt(claim) {
      const answer = await engine.attempt(claim);
      if (claim.label.startsWith('late')) await new Promise<void>((resolve) => clock.after(1_000, resolve));
      return answer;
    },
  });
  const locks = createLocks(backend, { clock, detect: true });
  const options = { ttl: HOUR, renew: false };
  const late = locks.mutex('key').acquire({ ...options, label: 'late' });
  await clock.advance(100);
  await force(createLocks(engine, { clock }));
  // A caller that holds something and looks for deadlocks asks the engine, though another caller here is before it.
  const next = locks.mutex('around').run(() => locks.mutex('key').acquire(options));
  await clock.advance(100);
  const held = await given(next);
  expect(held?.held, 'before the late answer').toBe(true);
  await clock.advance(1_000);
  expect([(await late).held, held?.held], 'after it').toEqual([false, true]);
  const last = locks.mutex('key').acquire(options);
  await held!.release();
  await clock.advance(1_000);
  expect((await given(last))?.held, 'the one behind it').toBe(true);
});
