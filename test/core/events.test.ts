import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { ALL_SEATS } from '../../src/core/admission.ts';
import type { Backend } from '../../src/core/backend.ts';
import { channels, emit } from '../../src/core/events.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { type ManualClock, manualClock } from '../../src/testing/index.ts';

type Heard = [channel: string, event: Record<string, unknown>];

function listen(): Heard[] {
  const heard: Heard[] = [];
  for (const { name } of Object.values(channels)) {
    const listener = (event: unknown) => void heard.push([String(name), event as Heard[1]]);
    subscribe(name, listener);
    onTestFinished(() => void unsubscribe(name, listener));
  }
  return heard;
}

interface Scene {
  readonly clock: ManualClock;
  /** Two processes, as far as the engine can tell. */
  readonly here: Locks;
  readonly there: Locks;
  /** Every id that was ever made. */
  readonly ids: string[];
  /** While set, renewals fail with it. */
  trouble: Error | undefined;
}

function scene(): Scene {
  const manual = manualClock(7);
  const ids: string[] = [];
  const clock: ManualClock = {
    ...manual,
    get pending() {
      return manual.pending;
    },
    id: () => {
      ids.push(manual.id());
      return ids.at(-1)!;
    },
  };
  const engine: Backend = memory({ clock });
  const renew = engine.renew.bind(engine);
  const made: { -readonly [F in keyof Scene]: Scene[F] } = {
    clock,
    here: createLocks(engine, { clock, label: 'worker 7' }),
    there: createLocks(engine, { clock }),
    ids,
    trouble: undefined,
  };
  engine.renew = (claims) => (made.trouble ? Promise.reject(made.trouble) : renew(claims));
  return made;
}

/** What everybody who takes a mutex of `here` is told by. */
const MUTEX = { backend: 'memory', key: 'k', label: 'worker 7', take: ALL_SEATS, of: ALL_SEATS };
const MS = expect.any(Number);

test('acquired, renewed and released are told with key, label, seats, token and duration', async () => {
  const { clock, here } = scene();
  const heard = listen();
  const lease = await here.mutex('k').acquire({ ttl: 3_000 });
  await clock.advance(1_500);
  await lease.release();
  const { token } = lease;
  expect(heard).toEqual([
    ['holdfast:acquired', { ...MUTEX, token, duration: 0 }],
    ['holdfast:renewed', { ...MUTEX, token }],
    ['holdfast:released', { ...MUTEX, token, duration: 1_500 }],
  ]);
});

test('a wish that waits in this process is told once, and handed over with the time it waited', async () => {
  const { clock, here } = scene();
  const first = await here.mutex('k').acquire();
  const heard = listen();
  const second = here.mutex('k').acquire();
  await clock.advance(5);
  await first.release();
  const { token } = await second;
  expect(heard).toEqual([
    ['holdfast:waiting', MUTEX],
    ['holdfast:released', { ...MUTEX, token: first.token, duration: 5 }],
    ['holdfast:handed-over', { ...MUTEX, token, duration: 5 }],
  ]);
});

test('a wish that waits for another process is told once, however often it asks', async () => {
  const { clock, here, there } = scene();
  const theirs = await there.mutex('k').acquire();
  const heard = listen();
  const ours = here.mutex('k').acquire();
  await clock.advance(10_000);
  expect(heard.filter(([name]) => name === 'holdfast:waiting')).toEqual([['holdfast:waiting', MUTEX]]);
  await theirs.release();
  await clock.advance(1);
  expect(heard.at(-1)).toEqual(['holdfast:acquired', { ...MUTEX, token: (await ours).token, duration: MS }]);
});

test('a try that is refused does not wait', async () => {
  const { here, there } = scene();
  await there.mutex('k').acquire();
  const heard = listen();
  expect(await here.mutex('k').tryAcquire()).toBeNull();
  expect(heard).toEqual([]);
});

test('renewals that fail, and the loss that comes of it, are told with the reason, the loss once', async () => {
  const made = scene();
  const lease = await made.here.mutex('k').acquire({ ttl: 3_000 });
  const heard = listen();
  made.trouble = new Error('the network is gone');
  await made.clock.advance(20_000);
  const failed = heard.filter(([name]) => name === 'holdfast:renewal-failed');
  expect(failed.length).toBeGreaterThan(0);
  for (const [, event] of failed) expect(event).toEqual({ ...MUTEX, token: lease.token, error: made.trouble });
  const error = expect.objectContaining({ code: 'LOCK_LOST' });
  expect(heard.filter(([name]) => name === 'holdfast:lost')).toEqual([
    ['holdfast:lost', { ...MUTEX, token: lease.token, duration: MS, error }],
  ]);
});

test('shared holds are told with their seats and without a token', async () => {
  const { here } = scene();
  const heard = listen();
  await here.rwLock('k').read.acquire();
  await here.semaphore('s', { permits: 5 }).acquire({ units: 2 });
  expect(heard).toEqual([
    ['holdfast:acquired', { ...MUTEX, take: 1, duration: 0 }],
    ['holdfast:acquired', { ...MUTEX, key: 's', take: 2, of: 5, duration: 0 }],
  ]);
});

test('a forced release is told with its reason and how many it evicted', async () => {
  const { here, there } = scene();
  await there.mutex('k').acquire();
  const heard = listen();
  await here.forceRelease('k', { reason: 'stuck since noon' });
  expect(heard).toEqual([['holdfast:forced', { backend: 'memory', key: 'k', reason: 'stuck since noon', evicted: 1 }]]);
});

test('nothing is made while nobody listens', () => {
  let made = 0;
  const make = () => {
    made++;
    return { ...MUTEX, token: 1n };
  };
  for (const name of Object.keys(channels) as (keyof typeof channels)[]) emit(name, make);
  expect(made).toBe(0);
  const heard = listen();
  emit('lost', make);
  expect([made, heard.length]).toEqual([1, 1]);
});

test('no event, listing, lease or error shows an id, whatever happens', async () => {
  const made = scene();
  const { clock, here, there, ids } = made;
  const heard = listen();
  const shown: unknown[] = [];
  const look = async (): Promise<void> => {
    for await (const standing of here.inspect()) shown.push(standing);
  };
  const show = (result: unknown): void => void shown.push(result);

  const mine = here.mutex('k', { ttl: 3_000, handOff: { max: 9, within: '1m' } });
  const held = await mine.acquire();
  mine.acquire().then(show, show);
  there.mutex('k').acquire().then(show, show);
  there.mutex('k').acquire({ wait: 100 }).then(show, show);
  here.semaphore('s', { permits: 3 }).acquire({ units: 2 }).then(show, show);
  there.rwLock('r').write.acquire().then(show, show);
  await clock.advance(1_500);
  await look();
  await held.release();
  await clock.advance(10);
  await here.forceRelease('k', { reason: 'stuck' });
  await clock.advance(30_000);
  made.trouble = new Error('the network is gone');
  await clock.advance(60_000);
  await look();
  await Promise.all([here.close(), there.close(), clock.advance(10_000)]);
  expect(shown.length, 'leases, errors and standings that were seen').toBeGreaterThan(8);

  expect(new Set(heard.map(([name]) => name)), 'channels that were tried').toEqual(
    new Set(Object.values(channels).map(({ name }) => name)),
  );
  expect(ids.length).toBeGreaterThan(3);
  const text = inspect([heard, shown], { depth: 12, showHidden: true, maxArrayLength: null, maxStringLength: null });
  expect(ids.filter((id) => text.includes(id))).toEqual([]);
});
