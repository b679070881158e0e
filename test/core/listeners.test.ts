import { afterEach, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { lose, manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { channels } from '../../src/core/contract/events.ts';
import { createLocks } from '../../src/index.ts';

/** What runs while a lock is in the middle of something: abort listeners and listeners of events, which may ask for anything. */
const scene = (calls: (engine: Backend) => Partial<Backend> = () => ({})) => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const released: string[] = [];
  const counting: Partial<Backend> = {
    release(handle, next) {
      released.push(handle.id);
      return engine.release(handle, next);
    },
  };
  const locks = createLocks(around(engine, { ...counting, ...calls(engine) }), { clock, ttl: 3_000 });
  const left = async (): Promise<string[]> => {
    const keys: string[] = [];
    for await (const { key, held } of engine.inspect!('')) keys.push(`${key} ${held ? 'held' : 'waited for'}`);
    return keys;
  };
  return { clock, engine, locks, released, left };
};

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});
function on(name: keyof typeof channels, listener: () => void): void {
  let once = false;
  const heard = (): void => {
    if (once) return;
    once = true;
    listener();
  };
  channels[name].subscribe(heard);
  stops.push(() => channels[name].unsubscribe(heard));
}

/** The codes of what was refused, and `granted` for the rest. */
const outcomes = (work: readonly Promise<unknown>[]): Promise<string[]> =>
  Promise.all(
    work.map((each) =>
      each.then(
        () => 'granted',
        (error) => error.code ?? String(error),
      ),
    ),
  );

test('once close() was called nobody is granted: a release right after it hands over to nobody', async () => {
  const { clock, locks, left } = scene();
  const lease = await locks.mutex('key').acquire();
  const waiting = outcomes([locks.mutex('key').acquire(), locks.mutex('key').acquire()]);
  await clock.advance(1);
  const closed = locks.close();
  void lease.release();
  await clock.advance(10);
  expect(await waiting).toEqual(['LOCK_CLOSED', 'LOCK_CLOSED']);
  await closed;
  expect(await left()).toEqual([]);
});

test('once close() was called nobody is granted: not by what a listener releases or asks in the middle of it', async () => {
  const { clock, locks, left } = scene();
  const [one, two] = [await locks.mutex('one').acquire(), await locks.mutex('two').acquire()];
  let asked: Promise<string[]> | undefined;
  one.signal.addEventListener('abort', () => {
    void two.release();
    asked = outcomes([
      locks.mutex('one').acquire(),
      locks.mutex('two').acquire(),
      locks.mutex('new').tryAcquire(),
      locks.all(['one', 'three']).acquire(),
    ]);
  });
  const waiting = outcomes([locks.mutex('one').acquire(), locks.mutex('two').acquire()]);
  await clock.advance(1);
  const closed = locks.close();
  await clock.advance(10);
  expect(await waiting).toEqual(['LOCK_CLOSED', 'LOCK_CLOSED']);
  expect(await asked).toEqual(['LOCK_CLOSED', 'LOCK_CLOSED', 'LOCK_CLOSED', 'LOCK_CLOSED']);
  await closed;
  expect(await left()).toEqual([]);
});

test('once close() was called nobody is granted: nobody enters what run holds', async () => {
  const { locks } = scene();
  const mutex = locks.mutex('key');
  await mutex.run(async () => {
    const closed = locks.close();
    expect(await outcomes([mutex.acquire(), mutex.tryAcquire(), mutex.run(() => {})])).toEqual([
      'LOCK_CLOSED',
      'LOCK_CLOSED',
      'LOCK_CLOSED',
    ]);
    await closed;
  });
});

test.each([
  'released',
  'lost',
  'acquired',
  'handedOver',
  'waiting',
] as const)('close() from a listener of %s leaves nothing behind, and the engine is closed last', async (name) => {
  const { clock, engine, locks, left } = scene();
  let closed: Promise<void> | undefined;
  on(name, () => {
    closed = locks.close();
  });
  const first = await locks.mutex('key').acquire();
  const second = locks
    .mutex('key')
    .acquire()
    .catch(() => {});
  await clock.advance(1);
  if (name === 'lost') lose(first);
  await first.release();
  await clock.advance(10);
  void second.then((lease) => lease?.release());
  await clock.advance(6_000);
  expect(closed, `${name} was told`).toBeDefined();
  await closed;
  expect(await left()).toEqual([]);
  expect(clock.pending, 'timers left behind').toBe(0);
  await engine.close();
});

test('a hold that ends is over when its listener hears of it: releasing it there frees nothing, and nothing twice', async () => {
  const { clock, engine, locks, released } = scene();
  const lease = await locks.mutex('key').acquire();
  let freed: Promise<boolean> | undefined;
  let held: boolean | undefined;
  lease.signal.addEventListener('abort', () => {
    held = lease.held;
    freed = lease.release();
  });
  const next = locks.mutex('key').acquire();
  await clock.advance(1);
  await engine.evict!('key', lease.token);
  await clock.advance(1_500);
  expect(held, 'held, in the listener').toBe(false);
  expect(await freed).toBe(false);
  expect((await next).token, 'of the next').toBeGreaterThan(lease.token);
  expect(released.length, 'requests to release it').toBe(1);
});

test('a hold that is released is released once, whatever a listener of the event does', async () => {
  const { locks, released } = scene();
  const lease = await locks.mutex('key').acquire();
  on('released', () => lose(lease));
  expect(await lease.release()).toBe(true);
  expect(released.length, 'requests to release it').toBe(1);
});

test.each([
  'acquired',
  'handedOver',
] as const)('a listener of %s that ends the wait changes nothing: it was granted', async (name) => {
  const { clock, locks, left } = scene();
  const first = await locks.mutex('key').acquire({ handOff: name === 'handedOver' ? {} : false });
  const abort = new AbortController();
  on(name, () => abort.abort());
  const second = locks
    .mutex('key')
    .acquire({ signal: abort.signal })
    .catch((error) => error);
  await clock.advance(1);
  await first.release();
  await clock.advance(10);
  const lease = await second;
  expect(lease.held, 'granted').toBe(true);
  expect(await lease.release()).toBe(true);
  await clock.advance(10);
  expect(await left()).toEqual([]);
});

test('a line that went out of use and came back is closed with the rest', async () => {
  const { clock, locks, left } = scene();
  // More than are kept for their next use.
  for (let key = 0; key < 1_001; key++) await (await locks.mutex(`${key}`).acquire()).release();
  const lease = await locks.mutex('key').acquire();
  lease.signal.addEventListener('abort', () => void lease.release());
  lose(lease);
  // Both in the new line, before the old one has done with its release.
  void locks.mutex('key').acquire({ handOff: false });
  const waiting = outcomes([locks.mutex('key').acquire()]);
  await clock.advance(10);
  const closed = locks.close();
  await clock.advance(10);
  expect(await waiting).toEqual(['LOCK_CLOSED']);
  await closed;
  expect(await left()).toEqual([]);
});

test.each(
  Array.from({ length: 16 }, (_, turns) => turns),
)('a loss that the engine tells %i turns of a promise after its grant is heard', async (turns) => {
  const { clock, locks } = scene((engine) => ({
    async attempt(claim) {
      const answer = await engine.attempt(claim);
      if (!answer.granted) return answer;
      const lost = new AbortController();
      let left = turns;
      const later = (): void => (left-- > 0 ? queueMicrotask(later) : lost.abort());
      queueMicrotask(later);
      return { ...answer, lost: lost.signal };
    },
  }));
  const outcome = await locks
    .mutex('key')
    .tryAcquire()
    .catch(() => null); // refused is heard, too
  await clock.advance(1);
  if (outcome) expect([outcome.held, outcome.signal.aborted]).toEqual([false, true]);
});
