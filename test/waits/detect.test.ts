import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks, type Lock, type LockOptions, type Locks } from '../../src/index.ts';
import { settleWithin } from '../kit/wait.ts';

/** As processes have them: `Locks` of their own on one engine. */
class Crowd implements AsyncDisposable {
  readonly all: readonly Locks[];

  constructor(count: number, options: LockOptions = {}, engine: Backend = memory()) {
    this.all = Array.from({ length: count }, () => createLocks(engine, { wait: '20s', ...options }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((locks) => locks.close()));
  }
}

const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error) => error.code ?? String(error),
  );

/** Each takes its first, and when all have theirs, its second inside of that. How they end. */
function crossing(pairs: readonly (readonly [Lock, Lock])[]): Promise<string[]> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let ready = 0;
  const works = pairs.map(([first, second]) =>
    outcome(
      first.run(async () => {
        if (++ready === pairs.length) resolve();
        await promise;
        await second.run(() => {});
      }),
    ),
  );
  return settleWithin('all end', Promise.all(works));
}

const DETECT: LockOptions = { detect: true };

test.concurrent('of two that wait for each other one gives up, within three seconds, and the other goes on', async () => {
  await using crowd = new Crowd(2, DETECT);
  const [here, there] = crowd.all as [Locks, Locks];
  const began = performance.now();
  const ends = await crossing([
    [here.mutex('a'), here.mutex('b')],
    [there.mutex('b'), there.mutex('a')],
  ]);
  expect(ends).toEqual(['done', 'LOCK_DEADLOCK']);
  expect(performance.now() - began, 'ms').toBeLessThan(3_000);
});

test.concurrent('two in one process are told as well', async () => {
  await using crowd = new Crowd(1, DETECT);
  const [locks] = crowd.all as [Locks];
  const [a, b] = [locks.mutex('a'), locks.mutex('b')];
  expect(
    (
      await crossing([
        [a, b],
        [b, a],
      ])
    ).sort(),
  ).toEqual(['LOCK_DEADLOCK', 'done']);
});

test.concurrent.each([3, 6])('of a ring of %i one gives up', async (count) => {
  await using crowd = new Crowd(count, DETECT);
  const ends = await crossing(
    crowd.all.map((locks, i) => [locks.mutex(`k${i}`), locks.mutex(`k${(i + 1) % count}`)] as const),
  );
  expect(ends.filter((end) => end === 'LOCK_DEADLOCK')).toHaveLength(1);
  expect(ends.filter((end) => end === 'done')).toHaveLength(count - 1);
});

test.concurrent('readers that want to write each wait for themselves, too, so each is told', async () => {
  await using crowd = new Crowd(2, { ...DETECT, reentrant: false });
  const ends = await crossing(crowd.all.map((locks) => [locks.rwLock('a').read, locks.rwLock('a').write] as const));
  expect(ends).toEqual(['LOCK_DEADLOCK', 'LOCK_DEADLOCK']);
});

test.concurrent('of two readers that want to write what the other reads one gives up', async () => {
  await using crowd = new Crowd(2, DETECT);
  const [one, two] = crowd.all as [Locks, Locks];
  const ends = await crossing([
    [one.rwLock('a').read, one.rwLock('b').write],
    [two.rwLock('b').read, two.rwLock('a').write],
  ]);
  expect(ends.sort()).toEqual(['LOCK_DEADLOCK', 'done']);
});

test.concurrent('a wait for one of two permits is no deadlock while the other may come back', async () => {
  await using crowd = new Crowd(3);
  const [one, two, three] = crowd.all as [Locks, Locks, Locks];
  const permits = (locks: Locks, wait: LockOptions['wait']) => locks.semaphore('s', { permits: 2, wait, ...DETECT });
  const third = await permits(three, '1s').acquire();
  setTimeout(() => void third.release(), 4_000);
  const ends = await crossing([
    [permits(one, '20s'), one.mutex('b')],
    [two.mutex('b'), permits(two, '20s')],
  ]);
  expect(ends).toEqual(['done', 'done']);
});

test.concurrent('a wait for both permits of which another holds one is a deadlock', async () => {
  await using crowd = new Crowd(2, DETECT);
  const [one, two] = crowd.all as [Locks, Locks];
  const ends = await crossing([
    [one.semaphore('s', { permits: 1 }), one.mutex('b')],
    [two.mutex('b'), two.semaphore('s', { permits: 1 })],
  ]);
  expect(ends.sort()).toEqual(['LOCK_DEADLOCK', 'done']);
});

test.concurrent('what all() has already belongs to the wait for the rest', async () => {
  await using crowd = new Crowd(2, DETECT);
  const [one, two] = crowd.all as [Locks, Locks];
  const ends = await crossing([
    [one.mutex('c'), one.all(['a', 'b'])],
    [two.all(['b', 'd']), two.mutex('c')],
  ]);
  expect(ends.sort()).toEqual(['LOCK_DEADLOCK', 'done']);
});

test.concurrent('only who asked to be told gives up', async () => {
  await using crowd = new Crowd(2);
  const [one, two] = crowd.all as [Locks, Locks];
  const ends = await crossing([
    [one.mutex('a'), one.mutex('b', DETECT)],
    [two.mutex('b'), two.mutex('a')],
  ]);
  expect(ends).toEqual(['LOCK_DEADLOCK', 'done']);
});

test.concurrent('the error tells the way round, by keys and labels, and what to do', async () => {
  await using crowd = new Crowd(2);
  const [one, two] = crowd.all as [Locks, Locks];
  const { promise: both, resolve } = Promise.withResolvers<void>();
  const other = one.mutex('a', { label: 'one' }).run(async () => {
    resolve();
    await one.mutex('b', { label: 'one' }).run(() => {});
  });
  const message = await two.mutex('b', { label: 'two' }).run(async () => {
    await both;
    return two
      .mutex('a', { label: 'two', ...DETECT })
      .acquire()
      .then(String, (error) => error.message);
  });
  expect(message).toContain('two waits for "a", held by one, who waits for "b", held by two');
  expect(message).toContain('all()');
  await other;
});

test.concurrent('waits behind others of their own processes are seen by all', async () => {
  await using crowd = new Crowd(2);
  const [one, two] = crowd.all as [Locks, Locks];
  const { promise, resolve } = Promise.withResolvers<void>();
  const nested = [
    one.mutex('a').run(() => promise.then(() => one.mutex('b').run(() => {}, DETECT))),
    two.mutex('b').run(() => promise.then(() => two.mutex('a').run(() => {}, DETECT))),
  ];
  await sleep(50);
  const ahead = [one.mutex('b').run(() => {}), two.mutex('a').run(() => {})];
  await sleep(50);
  resolve();
  const ends = await settleWithin('all end', Promise.all([...nested, ...ahead].map(outcome)), 5_000);
  expect(ends.sort()).toEqual(['LOCK_DEADLOCK', 'done', 'done', 'done']);
});

test.concurrent('closing ends a wait that stands apart from the others of its process', async () => {
  await using crowd = new Crowd(2);
  const [one, two] = crowd.all as [Locks, Locks];
  const lease = await two.mutex('b').acquire();
  const ahead = outcome(one.mutex('b').acquire());
  const nested = outcome(one.mutex('a').run(() => one.mutex('b').run(() => {}, DETECT)));
  await sleep(50);
  await one.close();
  expect(await settleWithin('both end', Promise.all([ahead, nested]))).toEqual(['LOCK_CLOSED', 'LOCK_CLOSED']);
  await lease.release();
  for await (const standing of two.inspect()) expect(standing).toBeUndefined();
});

test.concurrent('a wait that outlives the function it was started in is inside of nothing, whoever has that hold by then', async () => {
  await using crowd = new Crowd(2, { ...DETECT, handOff: { within: '5s' } });
  const [one, two] = crowd.all as [Locks, Locks];
  const { promise: stands, resolve } = Promise.withResolvers<void>();
  const other = two.mutex('b').run(async () => {
    await stands;
    await two.mutex('a').run(() => {});
  });
  const detached: Promise<string>[] = [];
  const first = one.mutex('a').run(async () => {
    detached.push(outcome(one.mutex('b').run(() => {})));
    await sleep(100); // until it stands in the engine's line
    resolve();
  });
  const next = one.mutex('a').run(() => sleep(3_000));
  await first;
  await sleep(2_500);
  expect((await two.waits()).deadlocks).toEqual([]);
  await next;
  expect(await Promise.all([...detached, outcome(other)])).toEqual(['done', 'done']);
});

test.concurrent('a lock of the same name on another engine is another lock: a ring of names alone is no deadlock', async () => {
  await using crowd = new Crowd(2, DETECT);
  await using elsewhere = new Crowd(2, DETECT);
  const [one, two] = crowd.all as [Locks, Locks];
  const [one2, two2] = elsewhere.all as [Locks, Locks];
  const busy = await Promise.all([one.mutex('c').acquire(), one2.mutex('c').acquire()]);
  const ends = [
    two.mutex('a').run(() => two2.mutex('b').run(() => two.mutex('c').run(() => {}))),
    one.mutex('b').run(() => one2.mutex('a').run(() => one2.mutex('c').run(() => {}))),
  ].map(outcome);
  await sleep(2_000);
  for (const lease of busy) await lease.release();
  expect(await settleWithin('both end', Promise.all(ends))).toEqual(['done', 'done']);
});

test.concurrent('it is refused where waiters cannot be listed, when the lock is made', async () => {
  for (const engine of [
    around(memory(), { inspect: undefined }),
    around(memory(), { traits: { ...memory().traits, fair: false } }),
  ]) {
    await using locks = createLocks(engine);
    expect(() => locks.mutex('a', DETECT)).toThrow(expect.objectContaining({ code: 'LOCK_UNSUPPORTED' }));
    expect(() => createLocks(engine, DETECT)).toThrow(expect.objectContaining({ code: 'LOCK_UNSUPPORTED' }));
    await expect(locks.waits()).rejects.toMatchObject({ code: 'LOCK_UNSUPPORTED' });
    await expect(locks.mutex('a').acquire(DETECT)).rejects.toMatchObject({ code: 'LOCK_UNSUPPORTED' });
  }
});

test.concurrent('a long wait for somebody who works asks the engine for one key now and then, and outside of any hold for none', async () => {
  const engine = memory();
  const asked: string[] = [];
  const inspect: NonNullable<Backend['inspect']> = (prefix, listing) => {
    asked.push(`${prefix} ${listing?.exact}`);
    return engine.inspect!(prefix, listing);
  };
  await using crowd = new Crowd(2, DETECT, around(engine, { inspect }));
  const [one, two] = crowd.all as [Locks, Locks];
  const lease = await one.mutex('busy').acquire();
  const waits = [two.mutex('outer').run(() => two.mutex('busy').run(() => {})), two.mutex('busy').run(() => {})];
  await sleep(5_000);
  await lease.release();
  await Promise.all(waits);
  expect(new Set(asked)).toEqual(new Set(['outer true']));
  expect(asked.length, asked.join(', ')).toBeLessThanOrEqual(3);
});

test.concurrent('no false alarm: thousands of nested holds taken in one order, contested', async () => {
  await using crowd = new Crowd(4, DETECT);
  let holds = 0;
  const alarms: unknown[] = [];
  const until = performance.now() + 4_000;
  const work = async (locks: Locks, seed: number): Promise<void> => {
    for (let i = seed; performance.now() < until; i += 7) {
      const [a, b] = [i % 3, 3 + (i % 2)];
      await locks
        .mutex(`k${a}`)
        .run(() =>
          locks.rwLock(`k${b}`)[i % 5 ? 'read' : 'write'].run(async () => {
            holds += 2;
            if (i % 11 === 0) await sleep(3);
          }),
        )
        .catch((error) => alarms.push(error));
    }
  };
  const works = crowd.all.flatMap((locks, i) => [work(locks, i), work(locks, i + 1), work(locks, i + 2)]);
  while (performance.now() < until) {
    const { deadlocks } = await crowd.all[0]!.waits();
    expect(deadlocks).toEqual([]);
    await sleep(20); // an engine in memory is asked without the event loop
  }
  await Promise.all(works);
  expect(alarms).toEqual([]);
  expect(holds, 'nested holds').toBeGreaterThan(2_000);
});
