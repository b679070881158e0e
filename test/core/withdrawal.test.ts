import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, Traits } from '../../src/core/contract/backend.ts';
import { Engine } from '../../src/core/engine/engine.ts';
import { withdraw, withdrawAt } from '../../src/core/engine/withdrawal.ts';
import { createLocks, LockError } from '../../src/index.ts';
import { claim } from './claim.ts';

/** An engine whose claims stay until they are released, as a session has them. */
function session(traits: Partial<Traits> = {}) {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const state = { attempts: 'answered' as 'answered' | 'unheard', releases: undefined as Error | undefined, asked: 0 };
  const backend = around(engine, {
    traits: { ...engine.traits, expires: false, lifetime: 'session', ...traits },
    async attempt(claim) {
      const answer = await engine.attempt({ ...claim, ttl: 1e9 });
      return state.attempts === 'answered' ? answer : new Promise<never>(() => {});
    },
    release(handle) {
      state.asked++;
      return state.releases ? Promise.reject(state.releases) : engine.release(handle);
    },
  });
  const locks = createLocks(backend, { clock, ttl: 1_000 });
  return { clock, engine, backend, locks, state, left: () => claims(engine) };
}

async function claims(engine: Backend): Promise<number> {
  let count = 0;
  for await (const _ of engine.inspect!('')) count++;
  return count;
}

/** A grant that nobody heard of, on an engine that answers no release for `silent` ms. */
async function ghost(scene: ReturnType<typeof session>, silent: number): Promise<void> {
  scene.state.attempts = 'unheard';
  scene.state.releases = new Error('no connection');
  const tried = expect(scene.locks.mutex('key').tryAcquire()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await scene.clock.advance(silent);
  await tried;
}

test('what a session carries is taken back however long the engine is away, since it does not expire by itself', async () => {
  const scene = session();
  await ghost(scene, 120_000);
  expect(await scene.left(), 'granted, and nobody knows').toBe(1);
  scene.state.releases = undefined;
  await scene.clock.advance(3_000);
  expect(await scene.left()).toBe(0);
});

test('a claim that its own lease keeps is left to it, and costs nothing once that must be over', async () => {
  const scene = session({ lifetime: 'lease' });
  await ghost(scene, 5_000);
  const { asked } = scene.state;
  await scene.clock.advance(60_000);
  expect(scene.state.asked).toBe(asked);
});

test('closing ends a withdrawal that nobody answers, and leaves no timer', async () => {
  const scene = session();
  await ghost(scene, 20_000);
  const closing = scene.locks.close();
  await scene.clock.advance(5_100);
  await closing;
  expect(scene.clock.pending).toBe(0);
});

test.each<[string, (scene: ReturnType<typeof session>) => Promise<void>]>([
  [
    'that were closed hold',
    async ({ clock, locks, state }) => {
      await locks.mutex('key').acquire();
      state.releases = new Error('no connection');
      const closing = locks.close();
      await clock.advance(5_100);
      await closing;
    },
  ],
  [
    'that were closed were granted without an answer',
    async (scene) => {
      await ghost(scene, 20_000);
      const closing = scene.locks.close();
      await scene.clock.advance(5_100);
      await closing;
    },
  ],
])('what Locks %s in a session of other Locks, too, is taken back once the engine answers', async (_, leave) => {
  const scene = session();
  const others = createLocks(scene.backend, { clock: scene.clock });
  await leave(scene);
  await scene.clock.advance(60_000);
  expect(await scene.left(), 'carried by the session').toBe(1);
  scene.state.releases = undefined;
  await scene.clock.advance(3_000);
  expect(await scene.left()).toBe(0);
  await others.close();
  expect(scene.clock.pending, 'timers left behind').toBe(0);
});

test.each([
  ['LOCK_UNAVAILABLE', 'the server cannot save its data and refuses writes', 0],
  ['LOCK_UNSUPPORTED', 'upgrade the server', 1],
] as const)('a release refused with %s is tried again only if that may pass', async (code, message, left) => {
  const scene = session({ lifetime: 'lease' });
  const lease = await scene.locks.mutex('key').acquire({ ttl: 30_000 });
  scene.state.releases = new LockError(code, message);
  expect(await lease.release(), 'refused').toBe(false);
  scene.state.releases = undefined;
  await scene.clock.advance(100);
  expect(await scene.left(), 'claims 100 ms later').toBe(left);
});

test('an attempt that was surely refused leaves nothing to withdraw', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  let releases = 0;
  const refusing = around(engine, {
    attempt: () => Promise.reject(new LockError('LOCK_UNAVAILABLE', 'no rights')),
    release: (handle) => {
      releases++;
      return engine.release(handle);
    },
  });
  const locks = createLocks(refusing, { clock });
  await expect(locks.mutex('key').tryAcquire()).rejects.toThrow('no rights');
  await clock.advance(100);
  expect(releases).toBe(0);
});

/** An engine of sessions to which the first attempt, that nobody answered, arrives when it is told to. */
function outrun(answersReleasesAfter = 0) {
  const scene = session();
  const { engine, clock } = scene;
  const arriving: (() => Promise<unknown>)[] = [];
  const backend = around(engine, {
    traits: { ...engine.traits, expires: false, lifetime: 'session' },
    attempt(claim) {
      const arrive = () => engine.attempt({ ...claim, ttl: 1e9 });
      return arriving.push(arrive) > 1 ? arrive() : Promise.reject(new Error('the connection broke'));
    },
    async release(handle) {
      const answer = await engine.release(handle);
      if (answersReleasesAfter > 0) await new Promise<void>((answered) => clock.after(answersReleasesAfter, answered));
      return answer;
    },
  });
  return { ...scene, lock: createLocks(backend, { clock, ttl: 1_000 }).mutex('key'), late: () => arriving[0]!() };
}

test.each([
  ['', 0],
  [', nor where the answer to the release comes when no more of it can arrive', 4_000],
])('an attempt that was not answered and arrives after the release brings nothing back%s', async (_, answered) => {
  const { clock, lock, late, left } = outrun(answered);
  const waiting = lock.acquire();
  await clock.advance(100);
  const released = (await waiting).release();
  await clock.advance(1);
  await late();
  expect(await left(), 'as the engine has it').toBe(1);
  await clock.advance(30_000);
  await released;
  expect(await left(), 'when no more of it can arrive').toBe(0);
});

test('closing waits for a withdrawal that is under way', async () => {
  const scene = session();
  await ghost(scene, 20_000);
  const closing = scene.locks.close();
  await scene.clock.advance(100);
  scene.state.releases = undefined;
  await scene.clock.advance(2_500);
  await closing;
  expect(await scene.left()).toBe(0);
});

/** An engine that is asked for nothing but to take a claim back, and each timer that is set: for how long, and whether in the background. */
function takingBack(silent = false) {
  const clock = manualClock();
  const released: string[] = [];
  const timers: [number, boolean][] = [];
  const { after } = clock;
  clock.after = (ms, fn, background = false) => {
    timers.push([ms, background]);
    return after(ms, fn);
  };
  const backend = around(memory({ clock }), {
    async release({ id }) {
      released.push(id);
      if (silent) throw new Error('no connection');
      return { freed: true };
    },
  });
  return { clock, released, timers, engine: new Engine(backend, clock) };
}

test('what is to be taken back in a moment is taken back in a moment', async () => {
  const { clock, released, engine } = takingBack();
  withdrawAt(engine, claim('late'), 1);
  await clock.advance(1);
  expect(released).toEqual(['late']);
});

test('a withdrawal keeps no process alive, neither one that is still to come nor one that is tried again', async () => {
  const { clock, released, timers, engine } = takingBack(true);
  withdrawAt(engine, claim('late'), 5_000);
  expect(timers).toEqual([[5_000, true]]);
  await clock.advance(5_100);
  expect(released.length).toBeGreaterThan(1);
  expect(timers).toContainEqual([50, true]);
});

test('a withdrawal without answers ends in the moment in which the lease of its claim must be over', async () => {
  const { clock, released, engine } = takingBack(true);
  withdraw(engine, { ...claim('late'), within: 250, ttl: 500 });
  await clock.advance(749);
  expect(released.length, 'tries at 0, 50, 150 and 350 ms').toBe(4);
  await clock.advance(1);
  expect(released.length, 'the last one at 750 ms').toBe(5);
  await clock.advance(5_000);
  expect([released.length, clock.pending], 'tries in all, and timers left behind').toEqual([5, 0]);
});
