/** The time between the release of a hold and its way back to the engine, in which the next caller of the process may come. */
import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { channels } from '../../src/core/contract/events.ts';
import { createLocks, type LockOptions } from '../../src/index.ts';
import { heard } from './heard.ts';

/** A process, what its engine was asked, in order, and each timer that keeps it alive. */
function setup(options: LockOptions) {
  const clock = manualClock();
  const timers: number[] = [];
  const { after } = clock;
  clock.after = (ms, fn, background) => {
    if (!background) timers.push(ms);
    return after(ms, fn);
  };
  const engine = memory({ clock });
  const asked: string[] = [];
  const backend = around(engine, {
    traits: { ...engine.traits, wakes: 'buffered' },
    attempt(claim) {
      asked.push('attempt');
      return engine.attempt(claim);
    },
    release(handle, next) {
      asked.push(next ? 'exchange' : 'release');
      return engine.release(handle, next);
    },
  });
  const locks = createLocks(backend, { clock, ...options });
  return {
    clock,
    locks,
    mutex: locks.mutex('key'),
    others: createLocks(engine, { clock }).mutex('key'),
    asked,
    timers,
  };
}

describe('a hold that lingers', () => {
  const within = 10_000;

  test('goes to the next caller here that asks as its last one did, also to one that does not wait: the engine is not asked', async () => {
    using events = heard('waiting', 'handedOver');
    const { mutex, asked } = setup({ handOff: { linger: 1_000, within } });
    const first = await mutex.tryAcquire();
    await first!.release();
    const second = await mutex.tryAcquire();
    expect(second?.token).toBe(first!.token + 1n);
    expect(asked).toEqual(['attempt']);
    expect(events.names).toEqual(['handedOver']);
  });

  test('goes back for one that does not wait and may not have it, who has the key then', async () => {
    using events = heard('waiting');
    const { mutex, asked } = setup({ handOff: { linger: 1_000, within } });
    await mutex.run(() => {});
    expect((await mutex.tryAcquire())?.held).toBe(true);
    expect(asked).toEqual(['attempt', 'release', 'attempt']);
    expect(events.names).toEqual([]);
  });

  test('waits for them for a single ms, too', async () => {
    const { mutex, asked } = setup({ handOff: { linger: 1, within } });
    await mutex.run(() => {});
    await mutex.run(() => {});
    expect(asked).toEqual(['attempt']);
  });

  test('goes back when its time to pass on is over, though it might linger for longer', async () => {
    const { clock, mutex, others } = setup({ handOff: { linger: 500, within: 1_000 } });
    const lease = await mutex.acquire();
    await clock.advance(800);
    await lease.release();
    await clock.advance(199);
    expect(await others.tryAcquire(), 'before that').toBeNull();
    await clock.advance(1);
    expect(await others.tryAcquire(), 'after that').not.toBeNull();
  });

  test('keeps the process alive until it is back at the engine', async () => {
    const { mutex, timers } = setup({ wait: 'forever', handOff: { linger: 700, within } });
    await mutex.run(() => {});
    expect(timers).toEqual([700]);
  });

  test('leaves no timer behind when its process closes', async () => {
    const { clock, locks, mutex, asked } = setup({ handOff: { linger: 700, within } });
    await mutex.run(() => {});
    await locks.close();
    expect([asked, clock.pending]).toEqual([['attempt', 'release'], 0]);
  });

  test('is back at the engine before that is closed, also if the listener of its release closes', async () => {
    const { locks, mutex, others } = setup({ handOff: { linger: 700, within } });
    const lease = await mutex.acquire();
    let closed: Promise<void> | undefined;
    const close = (): void => {
      closed ??= locks.close();
    };
    channels.released.subscribe(close);
    try {
      await lease.release();
    } finally {
      channels.released.unsubscribe(close);
    }
    await closed;
    expect(await others.tryAcquire(), 'once the Locks are closed').not.toBeNull();
  });
});

test('a caller that waits for a ms for one of its own process is told of as waiting', async () => {
  using events = heard('waiting');
  const { clock, mutex } = setup({});
  await mutex.acquire();
  const refused = expect(mutex.acquire({ wait: 1 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  await clock.advance(1);
  await refused;
  expect(events.names).toEqual(['waiting']);
});

describe('a release that nobody waits for', () => {
  const options: LockOptions = { awaitRelease: false, handOff: false };

  test('and that is over keeps no later caller from being refused at once', async () => {
    const { clock, mutex } = setup(options);
    await mutex.run(() => {});
    await clock.advance(1);
    await mutex.acquire();
    const refused = mutex.tryAcquire();
    await clock.advance(1);
    expect(await Promise.race([refused, 'not told yet'])).toBeNull();
  });

  test('takes along a caller of its turn that waits, be it for a ms', async () => {
    const { mutex, asked } = setup(options);
    await mutex.run(() => {});
    expect((await mutex.acquire({ wait: 1 })).held).toBe(true);
    expect(asked).toEqual(['attempt', 'exchange']);
  });

  test('takes along none that does not wait, since engines have only waiters take the place of a hold', async () => {
    const { mutex, asked } = setup(options);
    await mutex.run(() => {});
    expect((await mutex.tryAcquire())?.held).toBe(true);
    expect(asked).toEqual(['attempt', 'release', 'attempt']);
  });
});

test('a release that is waited for is sent at once, and not when its turn ends', async () => {
  const { mutex, asked } = setup({});
  const lease = await mutex.acquire();
  const released = lease.release();
  expect(asked).toEqual(['attempt', 'release']);
  expect(await released).toBe(true);
});

test('a caller that does not wait is refused here while the key is held here: no engine is asked, though it looks for deadlocks', async () => {
  const { clock, locks, mutex, asked } = setup({ awaitRelease: false, handOff: false });
  await mutex.run(() => {});
  await clock.advance(1); // the release is over
  await mutex.acquire();
  const before = [...asked];
  await locks.mutex('around').run(async () => {
    before.push('attempt');
    expect(await mutex.tryAcquire({ detect: true })).toBeNull();
  });
  await clock.advance(1);
  expect(asked.slice(0, before.length)).toEqual(before);
  expect(asked.slice(before.length)).toEqual(['release']);
});

test('a hold that another process had before, and may want again, does not linger', async () => {
  const { clock, mutex, others } = setup({ handOff: { linger: 1_000, within: 10_000 } });
  const theirs = await others.acquire();
  const waiting = mutex.acquire();
  await clock.advance(10);
  await theirs.release();
  await clock.advance(10);
  await (await waiting).release();
  await clock.advance(0);
  expect(await others.tryAcquire()).not.toBeNull();
});

test('a release takes no caller along that may not come in yet, since others of its process still hold', async () => {
  const { clock, locks, asked } = setup({});
  const { read, write } = locks.rwLock('key');
  const [first, second] = [await read.acquire(), await read.acquire()];
  const writer = write.acquire();
  await clock.advance(1);
  await first.release();
  expect(asked).toEqual(['attempt', 'attempt', 'release']);
  await second.release();
  await clock.advance(1);
  expect((await writer).held).toBe(true);
  expect(asked.at(-1)).toBe('exchange');
});

describe('a released hold whose session has ended before it came back', () => {
  test.each<[string, LockOptions]>([
    ['while it lingered', { handOff: { linger: 500, within: 60_000 } }],
    ['in the turn of its release', { awaitRelease: false, handOff: { within: 60_000 } }],
  ])('is not passed on: it ended %s, and another process may hold the key', async (_, options) => {
    const clock = manualClock();
    const engine = memory({ clock });
    const ended = new AbortController();
    const backend = around(engine, {
      traits: { ...engine.traits, expires: false, lifetime: 'session', sessionGrace: 10_000 },
      async attempt(claim) {
        const answer = await engine.attempt(claim);
        return answer.granted && !ended.signal.aborted ? { ...answer, lost: ended.signal } : answer;
      },
    });
    const mutex = createLocks(backend, { clock, ...options }).mutex('key');
    const others = createLocks(engine, { clock }).mutex('key');
    const lease = await mutex.acquire();
    void lease.release();
    ended.abort();
    const evicted = engine.evict!('key', lease.token);
    const theirs = others.tryAcquire();
    const next = mutex.acquire();
    await evicted;
    await clock.advance(300);
    const holder = await theirs;
    expect(holder?.held, 'the other process holds').toBe(true);
    expect(await Promise.race([next, 'waits']), 'the next caller here').toBe('waits');
    await holder!.release();
    await clock.advance(2_000);
    expect((await next).held, 'the next caller here, when the other process has left').toBe(true);
  });
});

test('a hold does not linger where a caller of its process waits in the queue of the engine', async () => {
  const { clock, locks, mutex } = setup({ handOff: { linger: 1_000, within: 10_000 } });
  const lease = await mutex.acquire();
  let granted = false;
  const inside = locks.mutex('other').run(async () => {
    const second = await mutex.acquire({ detect: true });
    granted = true;
    await second.release();
  });
  await clock.advance(100);
  await lease.release();
  await clock.advance(10);
  expect(granted).toBe(true);
  await inside;
});

test('a hold whose caller had waited in the queue of the engine, before its turn here, does not linger', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const locks = createLocks(around(engine, { watchHold: undefined }), { clock });
  const mutex = locks.mutex('key', { handOff: { linger: 1_000, within: 10_000 } });
  const unrenewed = await mutex.acquire({ renew: false });
  const waiting = mutex.acquire();
  await clock.advance(100);
  await engine.evict!('key', unrenewed.token);
  await clock.advance(4_000);
  await (await waiting).release();
  await clock.advance(1);
  expect(await mutex.tryAcquire()).not.toBeNull();
});
