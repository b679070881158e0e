import { channel } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { ALL_UNITS } from '../../src/core/contract/admission.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { until } from '../kit/wait.ts';
import { heard } from './heard.ts';

const NAMES = [
  ...['waiting', 'acquired', 'handed-over', 'reentered', 'answered', 'refused', 'timed-out', 'aborted', 'failed'],
  ...['renewed', 'renewal-failed', 'lost', 'released', 'left', 'release-failed', 'forced'],
];

/** All that comes on the channels by the names that the documents give them. */
function published() {
  const seen: { readonly name: string; readonly event: Record<string, unknown> }[] = [];
  const unlisten = NAMES.map((name) => {
    const listener = (event: unknown): void => void seen.push({ name, event: event as Record<string, unknown> });
    channel(`holdfast:${name}`).subscribe(listener);
    return () => channel(`holdfast:${name}`).unsubscribe(listener);
  });
  return {
    seen,
    [Symbol.dispose]() {
      for (const end of unlisten) end();
    },
  };
}

function setup() {
  const clock = manualClock();
  const engine = memory({ clock });
  return { clock, engine, locks: createLocks(engine, { clock, ttl: 3_000, label: 'us' }) };
}

test('each event comes on the channel of its name', async () => {
  using events = published();
  const { clock, engine, locks } = setup();
  const others = createLocks(engine, { clock });
  const lock = locks.mutex('key');
  const theirs = await others.mutex('theirs').acquire();
  const swallow = (work: Promise<unknown>) => work.catch(() => {});
  void swallow(locks.mutex('theirs').acquire({ wait: 100 }));
  void swallow(locks.mutex('theirs').acquire({ signal: AbortSignal.timeout(0) }));
  await new Promise((timer) => setTimeout(timer, 5));
  await clock.advance(100);
  await locks.mutex('theirs').tryAcquire();
  const cut = createLocks(around(engine, { renew: () => Promise.reject(new Error('cut')) }), { clock, ttl: 3_000 });
  await cut.mutex('cut').acquire();
  let torn = true;
  const tearing = around(engine, {
    release(handle, next) {
      if (!torn) return engine.release(handle, next);
      torn = false;
      return Promise.reject(new Error('torn'));
    },
  });
  const once = createLocks(tearing, { clock });
  await once.mutex('torn').run(() => {});
  await lock.run(async () => (await lock.acquire()).release());
  const { promise: result, resolve: end } = Promise.withResolvers<number>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const work = (): Promise<number> => {
    begin();
    return result;
  };
  const runs = locks.memo<number>('memo').run(work);
  await begun;
  const answered = others.memo<number>('memo').run(work);
  await until('the second caller waits', () =>
    events.seen.some(({ event }) => event.key === 'memo' && event.locks === others.number),
  );
  end(1);
  await Promise.all([runs, answered]);
  const first = await lock.acquire();
  const second = lock.acquire();
  await first.release();
  void second.then((lease) => clock.after(1_200, () => lease.release()));
  await clock.advance(1_500);
  await locks.forceRelease('theirs', { reason: 'a test' });
  await clock.advance(10_000);
  await theirs.release();
  await Promise.all([locks.close(), others.close(), cut.close(), once.close()]);
  await swallow(locks.mutex('key').acquire());
  const answer = events.seen.find(({ name }) => name === 'answered')?.event;
  expect(answer).toMatchObject({ state: expect.any(String), duration: expect.any(Number) });
  const names = new Set(events.seen.map(({ name }) => name));
  expect([...names].toSorted()).toEqual(NAMES.toSorted());
});

test.each<[string, (locks: Locks) => Promise<unknown>, Record<string, unknown>]>([
  [
    'mutex',
    (locks) => locks.mutex('key').acquire(),
    { type: 'mutex', units: ALL_UNITS, capacity: ALL_UNITS, token: 1n },
  ],
  [
    'writer',
    (locks) => locks.rwLock('key').write.acquire(),
    { type: 'writer', units: ALL_UNITS, capacity: ALL_UNITS, token: 1n },
  ],
  ['reader', (locks) => locks.rwLock('key').read.acquire(), { type: 'reader', units: 1, capacity: ALL_UNITS }],
  [
    'permit',
    (locks) => locks.semaphore('key', { permits: 3 }).acquire({ units: 2 }),
    { type: 'semaphore', units: 2, capacity: 3 },
  ],
])('the event of a %s tells all that it is about, and nothing else', async (_, take, more) => {
  using events = published();
  const { clock, locks } = setup();
  await take(locks);
  const { request } = events.seen[0]!.event;
  expect(request).toEqual(expect.any(Number));
  expect(events.seen.map(({ event }) => event)).toStrictEqual([
    { version: 1, locks: locks.number, request, backend: 'memory', key: 'key', label: 'us', duration: 0, ...more },
  ]);
  await locks.close();
  expect(clock.pending).toBe(0);
});

test('the parts of several keys share a number, which no request has', async () => {
  using events = published();
  const { locks } = setup();
  await (await locks.all(['a', 'b']).acquire()).release();
  const told = events.seen.map(({ event }) => event);
  expect(new Set(told.map(({ all }) => all)).size).toBe(1);
  expect(told[0]!.all).toEqual(expect.any(Number));
  expect(told.map(({ request }) => request)).not.toContain(told[0]!.all);
});

test('requests are counted up from 1 in the whole process, and so are Locks', async () => {
  using events = published();
  const first = setup().locks;
  const second = setup().locks;
  await first.mutex('key').acquire();
  await second.mutex('key').acquire();
  const [one, two] = events.seen.map(({ event }) => event.request as number);
  expect(one).toBeGreaterThan(0);
  expect([two, second.number]).toEqual([one! + 1, first.number + 1]);
  expect(first.number).toBeGreaterThan(0);
});

test('durations count from the wish, and from the grant; a margin is what was left of the lease', async () => {
  using events = heard('waiting', 'acquired', 'renewed', 'released', 'timedOut');
  const { clock, engine, locks } = setup();
  const others = createLocks(engine, { clock });
  const theirs = await others.mutex('key').acquire({ label: 'theirs' });
  await clock.advance(500);
  const waiting = locks.mutex('key').acquire();
  const gaveUp = locks
    .mutex('key')
    .acquire({ wait: 200 })
    .catch(() => {});
  await clock.advance(250);
  await gaveUp;
  await theirs.release();
  await clock.advance(50);
  const lease = await waiting;
  await clock.advance(1_000);
  await lease.release();
  const ours = events.events.flatMap((event, i) =>
    'label' in event && event.label === 'us' ? [[events.names[i], event.duration, event.margin]] : [],
  );
  expect(ours).toEqual([
    ['waiting', undefined, undefined],
    ['waiting', undefined, undefined],
    ['timedOut', 200, undefined],
    ['acquired', expect.any(Number), undefined],
    ['renewed', undefined, expect.any(Number)],
    ['released', expect.any(Number), undefined],
  ]);
  const [, , , acquired, renewed, released] = ours as number[][];
  expect(acquired![1]).toBeGreaterThanOrEqual(250);
  expect(acquired![1]).toBeLessThan(300);
  expect(renewed![2]).toBeGreaterThan(1_900);
  expect(renewed![2]).toBeLessThan(2_000);
  expect(released![1]).toBeGreaterThan(1_000);
  expect(released![1]).toBeLessThan(1_060);
});
