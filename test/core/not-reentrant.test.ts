import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { locked } from '../../src/decorator/index.ts';
import { createLocks, type LockOptions, type Mutex } from '../../src/index.ts';

/** What starts work of many callers in the context of the first of them, as DataLoader, loggers and job pools do. */
function pool(): { add(job: () => Promise<void>): Promise<void> } {
  const jobs: (() => void)[] = [];
  let wake: (() => void) | undefined;
  const works = async (): Promise<void> => {
    for (;;) {
      const next = jobs.shift();
      if (next) next();
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  };
  return {
    add(job) {
      return new Promise((done) => {
        jobs.push(() => done(job()));
        if (wake) wake();
        else void works();
      });
    },
  };
}

/** How many were inside together when a stranger's job ran in a pool that was started inside the lock. */
async function together(mutex: Mutex, take: (work: () => Promise<void>) => Promise<unknown>): Promise<number> {
  const jobs = pool();
  let inside = 0;
  let most = 0;
  const guarded = async (): Promise<void> => {
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside--;
  };
  let job: Promise<void> = Promise.resolve();
  await mutex.run(async () => {
    await jobs.add(async () => {}); // starts the pool in here
    job = jobs.add(async () => void (await take(guarded)));
    await guarded();
  });
  await job;
  return most;
}

test('a pool that was started inside a lock lets strangers in, and by reentrant: false it does not', async () => {
  const mutex = createLocks(memory()).mutex('key');
  expect(await together(mutex, (work) => mutex.run(work)), 'why there is the option').toBe(2);
  expect(await together(mutex, (work) => mutex.run(work, { reentrant: false }))).toBe(1);
});

test.each<[string, (options: LockOptions) => [Mutex, (work: () => Promise<void>) => Promise<unknown>]]>([
  [
    'a call',
    (options) => {
      const mutex = createLocks(memory()).mutex('key');
      return [mutex, (work) => mutex.run(work, options)];
    },
  ],
  [
    'a lock',
    (options) => {
      const mutex = createLocks(memory()).mutex('key', options);
      return [mutex, (work) => mutex.run(work)];
    },
  ],
  [
    'the defaults',
    (options) => {
      const mutex = createLocks(memory(), options).mutex('key');
      return [mutex, (work) => mutex.run(work)];
    },
  ],
  [
    'all()',
    (options) => {
      const locks = createLocks(memory());
      return [locks.mutex('key'), (work) => locks.all(['key', 'other'], options).run(work)];
    },
  ],
  [
    'a decorator',
    (options) => {
      const locks = createLocks(memory());
      return [locks.mutex('key'), (work) => locked({ ...options, key: 'key', locks }, async () => work())()];
    },
  ],
])('reentrant: false is taken by %s', async (_, made) => {
  expect(await together(...made({ reentrant: false }))).toBe(1);
});

test('the nearest of call, lock and defaults says whether a lock is entered again', async () => {
  const mutex = createLocks(memory(), { reentrant: false }).mutex('key');
  await mutex.run(async () => {
    expect(await mutex.tryAcquire(), 'by the defaults').toBeNull();
    const again = await mutex.tryAcquire({ reentrant: true });
    expect(again, 'by the call').not.toBeNull();
    await again!.release();
  });
});

test('reentrant: false waits in line as a stranger does: no turn before the holder has left, and no error for what a batch may do', async () => {
  const { read, write } = createLocks(memory()).rwLock('key');
  let writing: Promise<unknown> = Promise.resolve();
  const order: string[] = [];
  await read.run(async () => {
    writing = write.run(() => order.push('written'), { reentrant: false });
    await new Promise((resolve) => setImmediate(resolve));
    order.push('read');
  });
  await writing;
  expect(order).toEqual(['read', 'written']);
});

test('a lock that was taken with reentrant: false is entered again by what it calls', async () => {
  const mutex = createLocks(memory()).mutex('key');
  await mutex.run(() => mutex.run(async (outer) => mutex.run((inner) => expect(inner.token).toBe(outer.token))), {
    reentrant: false,
  });
});

test('what is no boolean is LOCK_INVALID', async () => {
  const mutex = createLocks(memory()).mutex('key');
  await expect(mutex.acquire({ reentrant: 'no' as never })).rejects.toMatchObject({ code: 'LOCK_INVALID' });
});

test('a candidate does not lead inside of a mutex of its name that is held around it: it waits, as anyone else', async () => {
  const clock = manualClock();
  const locks = createLocks(memory({ clock }), { clock });
  const stop = new AbortController();
  let led = 0;
  let campaign: Promise<unknown> | undefined;
  await locks.mutex('feed').run(async () => {
    campaign = locks.leader('feed').run(
      async () => {
        led++;
        stop.abort();
      },
      { signal: stop.signal },
    );
    await clock.advance(1_000);
    expect(led).toBe(0);
  });
  await clock.advance(1_000);
  await campaign;
  expect(led).toBe(1);
});
