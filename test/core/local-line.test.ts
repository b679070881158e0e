import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { EXCLUSIVE } from '../../src/core/contract/admission.ts';
import type { Backend, QueueEntry } from '../../src/core/contract/backend.ts';
import { LayeredOptions } from '../../src/core/contract/option-table.ts';
import type { LocalEntry } from '../../src/core/queue/key-queue.ts';
import type { DeadlockWatch } from '../../src/core/queue/request-events.ts';
import { LockRuntime } from '../../src/core/queue/runtime.ts';
import { createLocks, LockError, type LockOptions } from '../../src/index.ts';
import { runtimeOf } from '../../src/locks.ts';
import { heard } from './heard.ts';

/** Memory whose watch is free to arm, as on an engine with one mailbox per process. */
function mailbox(clock: ReturnType<typeof manualClock>): Backend {
  const engine = memory({ clock });
  const wakes = new Map<string, Parameters<NonNullable<Backend['watch']>>[1]>();
  return {
    name: 'buffered',
    traits: { ...engine.traits, wakes: 'buffered' },
    attempt: async (claim) => {
      const answer = await engine.attempt(claim);
      if (!answer.granted) await engine.watch?.(claim, (grant) => wakes.get(claim.id)?.(grant));
      return answer;
    },
    renew: (claims) => engine.renew(claims),
    release: async (handle, next) => {
      const { freed } = await engine.release(handle);
      if (!next) return { freed };
      const answer = await engine.attempt(next);
      if (!answer.granted) await engine.watch?.(next, (grant) => wakes.get(next.id)?.(grant));
      return { freed, next: answer };
    },
    watch: (claim, wake) => {
      wakes.set(claim.id, wake);
      return { [Symbol.asyncDispose]: async () => void wakes.delete(claim.id) };
    },
    close: () => engine.close(),
  };
}

test('when a writer leaves, all the readers behind it come in, not only the one that rides on the release', async () => {
  const clock = manualClock(1);
  await using locks = createLocks(mailbox(clock), { clock });
  const { read, write } = locks.rwLock('key');
  const writer = await write.acquire();
  const readers = Array.from({ length: 5 }, () => read.acquire());
  await clock.advance(1);
  await writer.release();
  await clock.advance(10);
  let inside = 0;
  for (const reader of readers) void reader.then(() => inside++);
  await clock.advance(10);
  expect(inside).toBe(5);
  for (const reader of readers) await (await reader).release();
});

test('a waiter that gives up lets those behind it in that it alone kept out', async () => {
  const clock = manualClock(1);
  await using locks = createLocks(memory({ clock }), { clock });
  const { read, write } = locks.rwLock('key');
  const first = await read.acquire();
  const writer = expect(write.acquire({ wait: 100 })).rejects.toThrow(
    expect.objectContaining({ code: 'LOCK_TIMEOUT' }),
  );
  const second = read.acquire();
  await clock.advance(200);
  await writer;
  await (await second).release();
  await first.release();
});

/** One process on an engine, and another one that holds the key there until it is told to release. */
async function held() {
  const clock = manualClock();
  const engine = memory({ clock });
  const theirs = await createLocks(engine, { clock }).mutex('key').acquire();
  const locks = createLocks(engine, { clock });
  return { clock, engine, theirs, locks, local: () => runtimeOf(locks, 'a test').localEntries() };
}

test('the hold of one that stood in the line of the engine for itself passes on to nobody who waits here behind others', async () => {
  const clock = manualClock();
  const locks = createLocks(memory({ clock }), { clock });
  const mutex = locks.mutex('key');
  const order: string[] = [];
  const wait = async (name: string, options?: LockOptions) => {
    await using _ = await mutex.acquire(options);
    order.push(name);
    await new Promise<void>((resolve) => clock.after(1, resolve));
  };
  const first = await mutex.acquire({ handOff: false });
  const all = [
    locks.mutex('around').run(() => wait('for itself', { detect: true })),
    wait('waits here'),
    wait('behind it'),
  ];
  await clock.advance(1);
  await first.release();
  await clock.advance(100);
  await Promise.all(all);
  expect(order).toEqual(['for itself', 'waits here', 'behind it']);
  expect(runtimeOf(locks, 'a test').localEntries(), 'who is still there').toEqual([]);
});

test('whoever looks for deadlocks and finds nobody here stands here for others, too: its hold passes from hand to hand', async () => {
  using events = heard('handedOver');
  const clock = manualClock();
  const locks = createLocks(memory({ clock }), { clock });
  const mutex = locks.mutex('key');
  const lease = await locks.mutex('around').run(() => mutex.acquire({ detect: true }));
  const next = mutex.acquire();
  await clock.advance(1);
  await lease.release();
  await (await next).release();
  expect(events.names).toEqual(['handedOver']);
});

test('who waits in the line of the engine is known here by the number that is listed there', async () => {
  const { clock, theirs, locks, local } = await held();
  const waiting = locks.mutex('key').acquire();
  await clock.advance(1);
  const [[own]] = local() as [[LocalEntry]];
  const listed: QueueEntry[] = [];
  for await (const standing of locks.inspect('key')) if (!standing.held) listed.push(standing);
  expect(listed.map(({ origin }) => origin?.claim)).toEqual([own.origin.claim]);
  await theirs.release();
  await (await waiting).release();
});

test('nobody takes over the place of one that looks for deadlocks without doing so, or it would be listed as one', async () => {
  const { clock, theirs, locks } = await held();
  const detects = async (): Promise<unknown[]> => {
    const found: unknown[] = [];
    for await (const { held, origin } of locks.inspect('key')) if (!held) found.push(origin?.detects !== undefined);
    return found;
  };
  await locks.mutex('around').run(async () => {
    const giveUp = new AbortController();
    const first = locks.mutex('key').acquire({ detect: true, signal: giveUp.signal });
    const second = locks.mutex('key').acquire();
    await clock.advance(1);
    expect(await detects(), 'of the first').toEqual([true]);
    giveUp.abort();
    await expect(first).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    await clock.advance(1);
    expect(await detects(), 'of the second').toEqual([false]);
    await theirs.release();
    await (await second).release();
  });
});

describe('while the engine is away for some', () => {
  test('a reader that it answers goes on waiting beside one that it does not', async () => {
    const clock = manualClock();
    const engine = memory({ clock });
    const theirs = await createLocks(engine, { clock }).rwLock('key').write.acquire();
    const backend = around(engine, {
      attempt: (claim) => (claim.label.startsWith('cut') ? Promise.reject(new Error('cut')) : engine.attempt(claim)),
    });
    const { read } = createLocks(backend, { clock }).rwLock('key');
    const cut = expect(read.acquire({ label: 'cut' })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    const answered = read.acquire({ label: 'answered' });
    await clock.advance(11_000);
    await cut;
    await theirs.release();
    await clock.advance(10);
    expect(await (await answered).release()).toBe(true);
  });

  test('whoever was told so takes nothing, and is in nobody’s way, when it answers right after', async () => {
    const clock = manualClock();
    const engine = memory({ clock });
    let away = true;
    const backend = around(engine, {
      attempt(claim) {
        if (!away) return engine.attempt(claim);
        away = clock.now() <= 10_000;
        return Promise.reject(new Error('cut'));
      },
    });
    const mutex = createLocks(backend, { clock }).mutex('key');
    const told = ['asks', 'waits here', 'and here'].map(() =>
      expect(mutex.acquire()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' }),
    );
    await clock.advance(5_000);
    let granted = false;
    const later = mutex.acquire().then((lease) => {
      granted = true;
      return lease;
    });
    await clock.advance(5_100);
    await Promise.all(told);
    expect(granted, 'the one that came later').toBe(true);
    await (await later).release();
    for await (const standing of engine.inspect!('')) expect.fail(`${standing.label} is left`);
  });
});

/** A process whose look for deadlocks is the test's. */
function watched(watch?: DeadlockWatch['watch']) {
  const clock = manualClock();
  const engine = memory({ clock });
  const runtime = new LockRuntime(engine, clock);
  const asked: { readonly key: string; readonly giveUp: (error: LockError) => void }[] = [];
  const ends: string[] = [];
  runtime.deadlocks = {
    watch: watch ?? ((key, _, giveUp) => void asked.push({ key, giveUp })),
    close: () => void ends.push('closed'),
  };
  const take = (key: string, options: LockOptions = {}) =>
    runtime.take(key, EXCLUSIVE, new LayeredOptions(engine.traits, options).terms);
  return { clock, engine, runtime, take, asked, ends };
}

describe('a look for deadlocks', () => {
  const found = new LockError('LOCK_DEADLOCK', 'found', { key: 'key' });

  test('is asked for once by each wait that wants it, however often that is refused, and by no other', async () => {
    const { clock, engine, take, asked } = watched();
    const theirs = createLocks(engine, { clock });
    for (const key of ['looks', 'does not']) await theirs.mutex(key).acquire();
    void take('looks', { detect: true });
    void take('does not');
    await clock.advance(10_000);
    expect(asked.map(({ key }) => key)).toEqual(['looks']);
  });

  test('that is told too late ends no hold: nobody else comes in', async () => {
    const { clock, runtime, take, asked } = watched();
    const first = await take('key');
    const second = take('key', { detect: true });
    const third = take('key');
    await clock.advance(1);
    await first!.release();
    const lease = await second;
    asked[0]!.giveUp(found);
    expect(runtime.isWaitedFor('key'), 'by the third').toBe(true);
    expect(await lease!.release()).toBe(true);
    expect(await (await third)!.release()).toBe(true);
  });

  test('that ends a wait at once leaves none to tell of', async () => {
    using events = heard('waiting', 'failed');
    const { take } = watched((_key, _request, giveUp) => giveUp(found));
    await take('key');
    await expect(take('key', { detect: true })).rejects.toBe(found);
    expect(events.names).toEqual(['failed']);
  });

  test('ends with its process', async () => {
    const { clock, runtime, ends } = watched();
    const closing = runtime.close();
    await clock.advance(1);
    await closing;
    expect(ends).toEqual(['closed']);
  });

  test('may be missing: then who asks for it waits as any other', async () => {
    const { clock, runtime, take } = watched();
    runtime.deadlocks = undefined;
    const lease = await take('key');
    const waiting = take('key', { detect: true });
    await clock.advance(1);
    await lease!.release();
    expect(await (await waiting)!.release()).toBe(true);
    const closing = runtime.close();
    await clock.advance(1);
    await closing;
  });
});

test('who looks for deadlocks behind a caller of its own process is known here, and is told when that closes', async () => {
  const clock = manualClock();
  const locks = createLocks(memory({ clock }), { clock });
  const mutex = locks.mutex('key');
  await mutex.acquire();
  const refused = locks.mutex('around').run(() => mutex.acquire({ detect: true, label: 'looks' }));
  const told = expect(refused).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  await clock.advance(1);
  const [own] = runtimeOf(locks, 'a test').localEntries(['key']);
  expect(own!.map(({ queued }) => queued)).toEqual([true, true]);
  expect(own![1]!.label).toBe('looks');
  const closing = locks.close();
  await clock.advance(5_000);
  await closing;
  await told;
});

test('a wait that belongs to a span is not looked at for deadlocks, unless it asks for that', async () => {
  const { clock, runtime, take, asked } = watched();
  runtime.traceparent = () => '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await take('key');
  void take('key');
  void take('key', { detect: true });
  await clock.advance(10);
  expect(asked.map(({ key }) => key)).toEqual(['key']);
});
