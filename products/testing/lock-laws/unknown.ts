import assert from 'node:assert/strict';
import type { Backend } from '../../../src/core/index.ts';
import type { Locks } from '../../../src/locks.ts';
import { around } from '../around.ts';
import { type Law, law } from '../case.ts';
import { limited, meanwhile } from '../limited.ts';
import type { Scene } from '../scene.ts';
import { fails, toldOfLoss } from './outcomes.ts';

/** The longest time of a call, and of closing, if the engine never answers. */
const MAX_SILENCE_MS = 12_000;
const LOST = new Error('the connection broke');

/** Calls whose outcome the library does not learn. Only the way to the engine breaks, so every engine can be tested. */
export const unknown: readonly Law[] = [
  law('a grant whose reply is lost is found again, and held once', async (scene) => {
    const locks = await broken(scene, 'attempt', 'reply', 1);
    const lease = await locks.mutex(scene.key).acquire({ wait: scene.patience });
    lease.assertHeld();
    assert.equal(await lease.release(), true);
    await scene.isFree();
  }),
  law('an attempt without a wait whose reply is lost is LOCK_UNAVAILABLE, and leaves no hold', async (scene) => {
    const locks = await broken(scene, 'attempt', 'reply', 1);
    const error = await fails(() => locks.mutex(scene.key).tryAcquire(), 'LOCK_UNAVAILABLE', 'a lost reply');
    assert.ok(error.cause, 'the cause is kept');
    await scene.isFree();
  }),
  law('a release that fails hides neither result nor error of the work, and is made up for', async (scene) => {
    const own = new Error('own');
    const outcomes: unknown[] = [];
    for (const work of [() => Promise.resolve('done'), () => Promise.reject(own)]) {
      const locks = await broken(scene, 'release', 'request', 2);
      const outcome = locks.mutex(scene.key).run(work);
      outcomes.push(await outcome.catch((error) => error));
      await scene.isFree();
    }
    assert.deepEqual(outcomes, ['done', own]);
  }),
  law('a wake-up that is lost delays the next owner by a poll, no more', ['wake-ups'], async (scene) => {
    const watch = (): AsyncDisposable => ({ [Symbol.asyncDispose]: async () => {} });
    const deaf = await scene.locks({}, around(await scene.another(), { watch }));
    const lease = await (await scene.locks()).mutex(scene.key).acquire();
    const wait = meanwhile(deaf.mutex(scene.key).acquire());
    await scene.pass(scene.tolerance / 5);
    await lease.release();
    await (await scene.soon(wait, 'the next owner')).release();
    await scene.isFree();
  }),
  law('a renewal that fails is tried again before the deadline', async (scene) => {
    const locks = await broken(scene, 'renew', 'request', 2);
    const lease = await locks.mutex(scene.key).acquire({ ttl: scene.ttl * 2 });
    await scene.pass(scene.ttl * 3);
    lease.assertHeld();
    assert.equal(lease.signal.aborted, false);
    assert.equal(await lease.release(), true);
  }),
  law('renewals that fail, or never answer, end in a loss that is told before the deadline', async (scene) => {
    const hanging = (): Promise<never> => new Promise(() => {});
    for (const renew of [() => Promise.reject(LOST), hanging]) {
      const locks = await scene.locks({}, around(await scene.another(), { renew }));
      const lease = await locks.mutex(scene.key).acquire({ ttl: scene.ttl, notice: scene.ttl / 3 });
      if (lease.remaining === Number.POSITIVE_INFINITY) return; // a session keeps the hold: there is nothing to renew
      assert.ok(await toldOfLoss(scene, lease), 'told when it was over: there must be time to stop');
      assert.equal(lease.held, false);
      await scene.isFree();
    }
  }),
  law(
    'an engine that says nothing keeps nobody waiting for long, for any question, nor does closing',
    ['faults.stall'],
    async (scene) => {
      const client = await scene.another();
      const locks = await scene.locks({}, client);
      const lease = await locks.mutex(scene.key).acquire();
      const resume = await scene.subject.faults!.stall!(client);
      const inspection = client.inspect && locks.inspect(scene.key)[Symbol.asyncIterator]().next();
      const attempt = locks.mutex(`${scene.key}/other`).tryAcquire();
      const late = `not over within ${MAX_SILENCE_MS} ms`;
      const over = (what: string, ...work: readonly unknown[]): Promise<unknown> =>
        limited(Promise.allSettled(work), MAX_SILENCE_MS, `${what}: ${late}`, scene.clock);
      try {
        await over('what was asked', attempt, lease.release(), locks.check(), inspection);
        await over('closing', locks.close());
      } finally {
        await resume();
      }
    },
  ),
];

/** Locks over a client whose first `times` calls fail: the call (`request`) or its answer (`reply`) is lost. */
async function broken(
  scene: Scene,
  name: 'attempt' | 'renew' | 'release',
  lost: 'request' | 'reply',
  times: number,
): Promise<Locks> {
  const client = await scene.another();
  const call = client[name].bind(client) as (...args: unknown[]) => Promise<unknown>;
  let left = times;
  const failing = async (...args: unknown[]): Promise<unknown> => {
    const answer = lost === 'reply' || left <= 0 ? await call(...args) : undefined;
    if (left-- > 0) throw LOST;
    return answer;
  };
  return scene.locks({}, around(client, { [name]: failing } as Partial<Backend>));
}
