import assert from 'node:assert/strict';
import type { Backend } from '../../core/index.ts';
import { around } from '../around.ts';
import { type Law, law } from '../law.ts';
import { limited, meanwhile } from '../limited.ts';
import type { Scene } from '../scene.ts';
import { fails } from './fails.ts';
import { toldOfLoss } from './leases.ts';

/** How long a call may take on an engine that never answers, and how long closing may take; ms. */
const SILENCE = 12_000;
const LOST = new Error('the connection broke');

/** Calls whose outcome the library never learns. What breaks is the way to the engine, so any engine will do. */
export const unknown: readonly Law[] = [
  law('a grant whose reply is lost is found again, and held once', async (scene) => {
    const locks = await broken(scene, (client) => ({ attempt: lostReply(client.attempt.bind(client), 1) }));
    const lease = await locks.mutex(scene.key).acquire({ wait: scene.patience });
    lease.assertHeld();
    assert.equal(await lease.release(), true);
    await scene.isFree();
  }),
  law('an attempt without a wait whose reply is lost is LOCK_UNAVAILABLE, and leaves no hold', async (scene) => {
    const locks = await broken(scene, (client) => ({ attempt: lostReply(client.attempt.bind(client), 1) }));
    const error = await fails(() => locks.mutex(scene.key).tryAcquire(), 'LOCK_UNAVAILABLE', 'a lost reply');
    assert.ok(error.cause, 'the cause is kept');
    await scene.isFree();
  }),
  law('a release that fails hides neither result nor error of the work, and is made up for', async (scene) => {
    const own = new Error('own');
    const releases = [() => Promise.resolve('done'), () => Promise.reject(own)];
    const outcomes: unknown[] = [];
    for (const work of releases) {
      const locks = await broken(scene, (client) => ({ release: lostRequest(client.release.bind(client), 2) }));
      outcomes.push(
        await locks
          .mutex(scene.key)
          .run(work)
          .catch((error) => error),
      );
      await scene.isFree();
    }
    assert.deepEqual(outcomes, ['done', own]);
  }),
  law('a wake-up that is lost delays the next owner by a poll, no more', ['wakes'], async (scene) => {
    const watch = (): AsyncDisposable => ({ [Symbol.asyncDispose]: async () => {} });
    const deaf = await broken(scene, () => ({ watch }));
    const lease = await (await scene.locks()).mutex(scene.key).acquire();
    const wait = meanwhile(deaf.mutex(scene.key).acquire());
    await scene.pass(scene.tolerance / 5);
    await lease.release();
    await (await scene.soon(wait, 'the next owner')).release();
    await scene.isFree();
  }),
  law('a renewal that fails is tried again before the deadline', async (scene) => {
    const locks = await broken(scene, (client) => ({ renew: lostRequest(client.renew.bind(client), 2) }));
    const lease = await locks.mutex(scene.key).acquire({ ttl: scene.ttl * 2 });
    await scene.pass(scene.ttl * 3);
    lease.assertHeld();
    assert.equal(lease.signal.aborted, false);
    assert.equal(await lease.release(), true);
  }),
  law('renewals that fail, or never answer, end in a loss that is told before the deadline', async (scene) => {
    const hanging = (): Promise<never> => new Promise(() => {});
    for (const renew of [() => Promise.reject(LOST), hanging]) {
      const locks = await broken(scene, () => ({ renew }));
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
      const over = (what: string, ...work: readonly unknown[]): Promise<unknown> =>
        limited(Promise.allSettled(work), SILENCE, `${what}: not over within ${SILENCE} ms`, scene.clock);
      try {
        await over('what was asked', attempt, lease.release(), locks.check(), inspection);
        await over('closing', locks.close());
      } finally {
        await resume();
      }
    },
  ),
];

async function broken(scene: Scene, calls: (client: Backend) => Partial<Backend>): ReturnType<Scene['locks']> {
  const client = await scene.another();
  return scene.locks({}, around(client, calls(client)));
}

/** The first `times` calls reach the engine, and their answers do not come back. */
function lostReply<A extends unknown[], T>(
  call: (...args: A) => Promise<T>,
  times: number,
): (...args: A) => Promise<T> {
  return async (...args) => {
    const answer = await call(...args);
    if (times-- > 0) throw LOST;
    return answer;
  };
}

/** The first `times` calls do not reach the engine. */
function lostRequest<A extends unknown[], T>(
  call: (...args: A) => Promise<T>,
  times: number,
): (...args: A) => Promise<T> {
  return async (...args) => {
    if (times-- > 0) throw LOST;
    return call(...args);
  };
}
