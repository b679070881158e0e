import assert from 'node:assert/strict';
import { isLockError } from '../../../src/core/index.ts';
import { type Law, law } from '../case.ts';
import { limited, meanwhile } from '../limited.ts';
import type { Scene } from '../scene.ts';
import { arrived, fails, leavingNothing, listening } from './outcomes.ts';

const RACES = 20;

/** Every wait ends and leaves nothing behind. */
export const waiting: readonly Law[] = leavingNothing([
  law('tryAcquire never waits, and leaves nothing behind', async (scene) => {
    const here = await scene.locks();
    const { locks: there, refusals } = await listening(scene);
    const lease = await here.mutex(scene.key).acquire();
    for (const locks of [here, there]) {
      const refused = scene.soon(locks.mutex(scene.key).tryAcquire(), 'a refusal');
      assert.equal(await refused, null, 'it is taken');
    }
    assert.equal(refusals(), 1, 'asked once');
    await lease.release();
  }),
  law('a wait of 0 is one attempt', async (scene) => {
    const [here, there] = await scene.mutexes();
    await here.run(async () => {
      const error = await fails(() => there.acquire({ wait: 0 }), 'LOCK_TIMEOUT', 'a taken key');
      assert.equal(error.key, scene.key);
    });
    await arrived(scene);
    await (await there.acquire({ wait: 0 })).release();
  }),
  law('a wait that is over says so in time, and leaves nothing behind', async (scene) => {
    const lease = await (await scene.locks()).mutex(scene.key).acquire();
    const { locks, code } = await listening(scene);
    const wait = scene.tolerance / 2;
    const began = scene.clock.now();
    const over = fails(() => locks.mutex(scene.key).acquire({ wait }), code, 'a wait for a taken key');
    // The end of the wait and this limit are timers of one process. They fire in their order, even if the process stood still.
    await limited(over, wait + scene.tolerance, `a wait of ${wait} ms is not over in time`, scene.clock);
    const waited = scene.clock.now() - began;
    // A timer counts whole milliseconds, and may fire up to 1 ms too early.
    assert.ok(waited >= wait - 1, `waited ${waited} ms instead of ${wait}`);
    await lease.release();
  }),
  law(
    'a wait that was given up keeps nobody out, even while the holder stays',
    ['fairness', 'shared units'],
    async (scene) => {
      const { read } = (await scene.locks()).rwLock(scene.key);
      const first = await read.acquire();
      const { locks, code } = await listening(scene);
      await fails(() => locks.rwLock(scene.key).write.acquire({ wait: scene.tolerance / 2 }), code, 'a writer');
      const second = await scene.soon(read.acquire(), 'a reader beside a reader');
      first.assertHeld();
      for (const lease of [first, second]) await lease.release();
    },
  ),
  law('an aborted wait ends with the reason of its signal, and leaves nothing behind', async (scene) => {
    const [here, there] = await scene.mutexes();
    const lease = await here.acquire();
    const abort = new AbortController();
    const wait = meanwhile(there.acquire({ signal: abort.signal }));
    await scene.pass(scene.tolerance / 5);
    abort.abort('enough');
    const error = await fails(() => wait, 'LOCK_ABORTED', 'an aborted wait');
    assert.equal(error.cause, 'enough');
    await lease.release();
  }),
  law('a signal that is aborted already lets nothing in', async (scene) => {
    const locks = await scene.locks();
    await fails(() => locks.mutex(scene.key).acquire({ signal: AbortSignal.abort() }), 'LOCK_ABORTED');
  }),
  law('an abort that races the grant gives either a lease or an error, and leaves nothing behind', (scene) =>
    races(scene, ['LOCK_ABORTED'], async (wait, turn) => {
      const abort = new AbortController();
      const outcome = meanwhile(wait({ signal: abort.signal }));
      await scene.pass(turn);
      abort.abort();
      return outcome;
    }),
  ),
  // If the engine has not answered in so short a time, the error is LOCK_UNAVAILABLE.
  law('a time limit that races the grant gives either a lease or an error, and leaves nothing behind', (scene) =>
    races(scene, ['LOCK_TIMEOUT', 'LOCK_UNAVAILABLE'], (wait, turn) => wait({ wait: turn + 1 })),
  ),
  law('waiters of several processes are served in the order they came', ['fairness', 'inspect'], async (scene) => {
    const lease = await (await scene.locks()).mutex(scene.key).acquire();
    const served: number[] = [];
    const waits: Promise<void>[] = [];
    for (let number = 0; number < 4; number++) {
      const locks = await scene.locks();
      waits.push(meanwhile(locks.mutex(scene.key).run(() => void served.push(number))));
      while ((await scene.entries()).length < number + 2) await scene.pass(1);
    }
    await lease.release();
    await scene.soon(Promise.all(waits), 'four short turns');
    assert.deepEqual(served, [0, 1, 2, 3]);
  }),
]);

type Wait = (options: { wait?: number; signal?: AbortSignal }) => Promise<void>;

/** The holder releases a little before or after the waiter gives up, each time at another moment. */
async function races(
  scene: Scene,
  codes: readonly string[],
  giveUp: (wait: Wait, turn: number) => Promise<void>,
): Promise<void> {
  const [here, there] = await scene.mutexes();
  const wait: Wait = async (options) => {
    try {
      await (await here.acquire(options)).release();
    } catch (error) {
      if (!isLockError(error) || !codes.includes(error.code)) throw error;
    }
  };
  for (let race = 0; race < RACES; race++) {
    const held = await there.acquire();
    const outcome = giveUp(wait, race % 5);
    await Promise.all([outcome, scene.pass((race * 3) % 7).then(() => held.release())]);
    await scene.isFree();
  }
}
