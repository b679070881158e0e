import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { type ManualClock, manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { HeldLease } from '../../src/core/queue/held-lease.ts';
import { createLocks, type Lease } from '../../src/index.ts';
import { heard } from './heard.ts';

const scene = () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const locks = createLocks(engine, { clock, ttl: 1_000 });
  return { clock, engine, locks, lock: locks.mutex('key') };
};

/** Counts the callers that stay inside, 10 ms each. */
function counter(clock: ManualClock) {
  let now = 0;
  const counts = {
    most: 0,
    async stay(): Promise<void> {
      counts.most = Math.max(counts.most, ++now);
      await new Promise<void>((resolve) => clock.after(10, resolve));
      now--;
    },
  };
  return counts;
}

test('a child that was aborted before it began does not keep the next child out', async () => {
  const { lock } = scene();
  await lock.run(async () => {
    await expect(lock.acquire({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    const child = await lock.tryAcquire();
    expect(child, 'the frame is free').not.toBeNull();
    await child?.release();
  });
});

test('children started together are inside one after the other', async () => {
  const { clock, lock } = scene();
  const inside = counter(clock);
  const child = () => lock.run(inside.stay);
  const both = lock.run(() => Promise.all([child(), child(), child()]));
  await clock.advance(100);
  await both;
  expect(inside.most).toBe(1);
});

test('a frame whose function gave the hold back lets nobody in: the lock is taken anew', async () => {
  const { lock } = scene();
  await lock.run(async (lease) => {
    await lease.release();
    await using again = await lock.acquire();
    expect(again.held).toBe(true);
    expect(again.token).toBeGreaterThan(lease.token);
  });
});

test('a run inside another one that gives its place back does not run beside the next caller there', async () => {
  const { clock, lock } = scene();
  const inside = counter(clock);
  const both = lock.run(() =>
    Promise.all([
      lock.run(async (lease) => {
        await lease.release();
        await lock.run(inside.stay);
      }),
      lock.run(inside.stay),
    ]),
  );
  await clock.advance(100);
  await both;
  expect(inside.most).toBe(1);
});

test('work that a run inside another one did not await keeps the next caller there out', async () => {
  const { clock, lock } = scene();
  const inside = counter(clock);
  let stray: Promise<unknown> = Promise.resolve();
  const both = lock.run(() =>
    Promise.all([
      lock.run(() => {
        stray = lock.run(inside.stay);
      }),
      lock.run(inside.stay),
    ]),
  );
  await clock.advance(100);
  await Promise.all([both, stray]);
  expect(inside.most).toBe(1);
});

test('a lease that a run inside another one leaves to its caller keeps the next caller there out', async () => {
  const { lock } = scene();
  await lock.run(async () => {
    const lease = await lock.run(() => lock.acquire());
    expect(lease.held).toBe(true);
    expect(await lock.tryAcquire(), 'beside the lease').toBeNull();
    await lease.release();
    await using next = await lock.acquire();
    expect(next.held).toBe(true);
  });
});

test('a reader inside a writer that was given back does not keep its caller from writing', async () => {
  const { clock } = scene();
  const lock = createLocks(memory({ clock }), { clock }).rwLock('key');
  const wrote = await lock.write.run(() =>
    lock.read.run(async (lease) => {
      await lease.release();
      return lock.write.run(() => true);
    }),
  );
  expect(wrote).toBe(true);
});

test('all() that is refused inside a run does not end the minHold of that run', async () => {
  const { clock, engine, locks } = scene();
  const lock = locks.mutex('key');
  const busy = await createLocks(engine, { clock }).mutex('other').acquire();
  await lock.run(
    async () => {
      expect(await locks.all(['key', 'other']).tryAcquire()).toBeNull();
    },
    { minHold: 500 },
  );
  expect(await createLocks(engine, { clock }).mutex('key').tryAcquire(), 'within minHold').toBeNull();
  await busy.release();
});

test('nothing more runs in the name of a hold that is lost', async () => {
  const { clock, engine, lock } = scene();
  const run = lock.run(async (lease) => {
    await engine.evict!('key', lease.token);
    await new Promise<void>((resolve) => clock.after(500, resolve));
    await lock.run(() => expect.fail('ran without the lock'));
  });
  const lost = expect(run).rejects.toMatchObject({ code: 'LOCK_LOST' });
  await clock.advance(1_000);
  await lost;
});

test('a child keeps the hold when the frame around it ends first', async () => {
  const { clock, lock } = scene();
  let child: Promise<unknown> = Promise.resolve();
  await lock.run(async () => {
    child = lock.run(() => new Promise<void>((resolve) => clock.after(300, resolve)));
  });
  expect(await lock.tryAcquire(), 'still held by the child').toBeNull();
  await clock.advance(400);
  await child;
  const after = await lock.tryAcquire();
  expect(after).not.toBeNull();
  await after?.release();
});

test('who waited for a turn inside does not wait all over again outside', async () => {
  const { clock, engine, lock } = scene();
  let waiting: Promise<unknown> = Promise.resolve();
  let ended = Number.NaN;
  await lock.run(async () => {
    void lock.run(() => new Promise<void>((resolve) => clock.after(5_000, resolve)));
    waiting = lock.acquire({ wait: 1_000 }).catch((error) => {
      ended = clock.now();
      return error;
    });
    await clock.advance(900);
  });
  const from = clock.now();
  await clock.advance(3_000);
  expect(await waiting).toMatchObject({ code: 'LOCK_TIMEOUT' });
  expect(ended - from, 'ms past the frame').toBeLessThanOrEqual(100);
  for await (const { held } of engine.inspect!('key')) expect(held).toBe(true);
});

test('who waited for a turn inside waits for the rest of its time outside', async () => {
  const { clock, lock } = scene();
  let waiting: Promise<Lease> | undefined;
  await lock.run(async () => {
    void lock.run(() => new Promise<void>((resolve) => clock.after(1_000, resolve)));
    waiting = lock.acquire({ wait: 1_000 });
    await clock.advance(200);
  });
  await clock.advance(900);
  expect((await waiting)!.held).toBe(true);
});

test('who waited for a turn inside has a hold of its own once the frame is over', async () => {
  const { clock, lock } = scene();
  using events = heard('waiting', 'reentered', 'acquired');
  let waiting: Promise<Lease> | undefined;
  let child: Lease | undefined;
  const token = await lock.run(async (lease) => {
    child = await lock.acquire();
    waiting = lock.acquire();
    await clock.advance(10);
    return lease.token;
  });
  await child!.release();
  await clock.advance(10);
  const after = await waiting!;
  expect(events.names, 'it waited once').toEqual(['acquired', 'reentered', 'waiting', 'acquired']);
  expect(after.token, 'of the frame: '.concat(`${token}`)).toBeGreaterThan(token!);
});

test('whoever gives up its turn inside keeps nobody behind it out, and is told of as one that waited', async () => {
  const { clock, lock } = scene();
  using events = heard('waiting', 'timedOut', 'reentered');
  await lock.run(async () => {
    const first = await lock.acquire();
    const second = lock.acquire({ wait: 100 }).catch(({ code }) => code);
    const third = lock.acquire();
    await clock.advance(200);
    expect(await second).toBe('LOCK_TIMEOUT');
    await first.release();
    await (await third).release();
  });
  expect(events.names).toEqual(['reentered', 'waiting', 'waiting', 'timedOut', 'reentered']);
});

test('nothing more runs in the name of a hold that the machine slept through', async () => {
  const { clock, lock } = scene();
  const run = lock.run(
    async () => {
      clock.suspend(5_000);
      clock.resync();
      await lock.run(() => expect.fail('ran without the lock'));
    },
    { renew: false },
  );
  await expect(run).rejects.toMatchObject({ code: 'LOCK_LOST' });
});

test('closing rejects who waits for a turn inside', async () => {
  const clock = manualClock(1);
  const locks = createLocks(memory({ clock }), { clock });
  const lock = locks.mutex('key');
  let waiting: Promise<unknown> = Promise.resolve();
  void lock.run(async () => {
    void lock.run(() => new Promise(() => {}));
    waiting = lock.acquire().catch((error) => error);
    await waiting;
  });
  await clock.advance(10);
  void locks.close();
  await clock.advance(10);
  expect(await Promise.race([waiting, clock.advance(100)])).toMatchObject({ code: 'LOCK_LOST' });
});

test('a task that starts its next turn from inside the lock keeps none of the turns before', async () => {
  const lock = createLocks(memory()).mutex('task');
  const leases: WeakRef<object>[] = [];
  await new Promise<void>((done) => {
    const turn = (): void =>
      void lock.run((lease) => {
        leases.push(new WeakRef(lease));
        if (leases.length < 50) setImmediate(turn);
        else done();
      });
    turn();
  });
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  expect(leases.filter((lease) => lease.deref()).length, 'of 50').toBeLessThan(10);
});

test('whoever had to wait for a turn inside leaves nothing with the hold, whether it came in or gave up', async () => {
  const { clock, lock } = scene();
  await lock.run(async (lease) => {
    const { listeners } = (lease as Lease & HeldLease).hold;
    const { onLoss } = listeners;
    let listening = 0;
    listeners.onLoss = (listener) => {
      listening++;
      const unlisten = onLoss.call(listeners, listener);
      return () => {
        listening--;
        unlisten();
      };
    };
    const first = await lock.acquire();
    const second = lock.acquire();
    const third = expect(lock.acquire({ wait: 10 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(listening, 'while they wait').toBe(2);
    await clock.advance(10);
    await third;
    await first.release();
    await (await second).release();
    expect(listening, 'when they do not').toBe(0);
  });
});

test('who comes into a hold that is lost, and is the last inside, is told when it is given back', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const slow = around(engine, {
    async release(handle) {
      await new Promise<void>((answered) => clock.after(50, answered));
      return engine.release(handle);
    },
  });
  const lock = createLocks(slow, { clock, ttl: 3_000, renew: false, notice: 500 }).mutex('key');
  const left = async () => {
    let count = 0;
    for await (const _ of engine.inspect!('')) count++;
    return count;
  };
  const told = lock.run(async (lease) => {
    await new Promise<void>((resolve) => clock.after(2_600, resolve));
    const child = lock.acquire().then(
      () => 'granted',
      async ({ code }) => [code, await left()],
    );
    await lease.release();
    return child;
  });
  await clock.advance(2_600);
  expect(await left(), 'before that').toBe(1);
  await clock.advance(100);
  expect(await told).toEqual(['LOCK_LOST', 0]);
});

/** The warnings about children that nobody awaits, while it is in use. */
function unawaited(): Disposable & { readonly told: string[] } {
  const told: string[] = [];
  const listen = (warning: Error & { code?: string }): void => {
    if (warning.code === 'HOLDFAST_UNAWAITED_RUN') told.push(`${warning.name}: ${warning.message}`);
  };
  process.on('warning', listen);
  return { told, [Symbol.dispose]: () => void process.off('warning', listen) };
}

test('a run that re-enters and outlives the function around it is told of, once', async () => {
  using warnings = unawaited();
  const { clock, lock } = scene();
  const audit = () => lock.run(() => new Promise<void>((resolve) => clock.after(10, resolve)));
  for (let i = 0; i < 2; i++) {
    let auditing!: Promise<void>;
    await lock.run(async () => {
      auditing = audit();
      await clock.advance(1);
    });
    await clock.advance(10);
    await auditing;
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings.told).toHaveLength(1);
  expect(warnings.told[0]).toMatch(
    /^HoldfastUnawaitedRunWarning: a run of "key" .* Await it, or give it reentrant: false/,
  );
});

test('runs that are awaited, that end first, or that were refused are not told of; nor is a lease that is passed on', async () => {
  using warnings = unawaited();
  const { clock, lock } = scene();
  await lock.run(() => lock.run(() => lock.run(() => {})));
  await lock.run(async () => {
    void lock.run(() => {});
    await clock.advance(1);
  });
  await lock.run(async () => {
    const child = lock.run(() => {}, { signal: AbortSignal.abort() });
    await expect(child).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
  });
  const lease = await lock.run(() => lock.acquire());
  await lease.release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings.told).toEqual([]);
});
