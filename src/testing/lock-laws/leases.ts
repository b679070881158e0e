import assert from 'node:assert/strict';
import { deadlineOf, type Lease } from '../../core/index.ts';
import { type Law, law } from '../law.ts';
import { meanwhile } from '../limited.ts';
import type { Scene } from '../scene.ts';
import { fails } from './fails.ts';

/** A hold lives while its process renews it, and its holder hears of the end in time. */
export const leases: readonly Law[] = [
  law('renewed in the background, a hold outlives three ttls with the token it had', async (scene) => {
    const ttl = Math.max(scene.ttl, 1_000);
    const [here, there] = await scene.processes({ ttl });
    const lease = await here.mutex(scene.key).acquire();
    const { token } = lease;
    await scene.pass(ttl * 3);
    lease.assertHeld();
    assert.equal(lease.signal.aborted, false, 'the loss signal of a hold that is good');
    assert.equal(lease.token, token);
    assert.equal(await there.mutex(scene.key).tryAcquire(), null, 'it is held');
    assert.equal(await lease.release(), true, 'the release freed it');
    await scene.isFree();
  }),
  law(
    'without renewal a hold ends: told once, before the deadline, and then free for others',
    ['expires'],
    async (scene) => {
      const [here, there] = await scene.processes({ ttl: scene.ttl });
      const lease = await here.mutex(scene.key).acquire({ renew: false, notice: scene.ttl / 2 });
      const following = async (): Promise<Lease> => {
        const next = await there.mutex(scene.key).acquire();
        assert.equal(lease.held, false, 'held, when another was granted');
        return next;
      };
      const wait = meanwhile(following());
      assert.ok(await toldOfLoss(scene, lease), 'told when it was over: there must be time to stop');
      const next = await scene.soon(wait, 'the next owner');
      assert.equal(await lease.release(), false, 'a release after the loss freed nothing');
      next.assertHeld();
      await next.release();
    },
  ),
  law('a lease lasts what was asked for from the grant, also when it was waited for', async (scene) => {
    const [here, there] = await scene.processes();
    const ttl = scene.ttl * 3;
    const lease = await here.mutex(scene.key).acquire();
    const waiting = meanwhile(there.mutex(scene.key).acquire({ ttl, renew: false }));
    await scene.pass(ttl * 0.3); // shortly before it gives the next sign of life
    const released = scene.clock.now();
    await lease.release();
    const next = await scene.soon(waiting, 'the next lease');
    while (next.held) await scene.pass(scene.ttl / 80);
    const lasted = scene.clock.now() - released;
    const least = deadlineOf(0, ttl) - scene.tolerance / 5;
    assert.ok(lasted >= least, `it asked for ${ttl} ms, and held for ${lasted} ms from the release before`);
    await scene.isFree();
  }),
  law('a lost lease says LOCK_LOST, a released one LOCK_NOT_HELD', ['expires'], async (scene) => {
    const locks = await scene.locks({ ttl: scene.ttl });
    const lost = await locks.mutex(scene.key).acquire({ renew: false });
    await scene.expired();
    await fails(() => lost.assertHeld(), 'LOCK_LOST', 'assertHeld');
    await fails(() => lost.extend(scene.ttl), 'LOCK_LOST', 'extend');
    assert.equal(lost.remaining, 0);
    const released = await locks.mutex(scene.key).acquire();
    await released.release();
    await fails(() => released.assertHeld(), 'LOCK_NOT_HELD', 'assertHeld');
    await fails(() => released.extend(scene.ttl), 'LOCK_NOT_HELD', 'extend');
    assert.equal(released.signal.aborted, false, 'a release is no loss');
  }),
  law('extend makes a lease last', ['expires'], async (scene) => {
    const [here, there] = await scene.processes({ ttl: scene.ttl });
    const lease = await here.mutex(scene.key).acquire({ renew: false });
    await lease.extend(scene.ttl * 20);
    assert.ok(lease.remaining > scene.ttl, `${lease.remaining} ms left after an extension`);
    await scene.expired();
    lease.assertHeld();
    assert.equal(await there.mutex(scene.key).tryAcquire(), null, 'it was extended');
    await lease.release();
  }),
  law('maxHold ends the renewal of work that hangs', async (scene) => {
    const [here, there] = await scene.processes({ ttl: scene.ttl });
    const lease = await here.mutex(scene.key).acquire({ maxHold: scene.ttl });
    await toldOfLoss(scene, lease);
    const next = await scene.soon(there.mutex(scene.key).acquire(), 'the next owner');
    assert.equal(lease.held, false);
    await next.release();
  }),
  law('minHold keeps the key taken after an early release', async (scene) => {
    const [here, there] = await scene.processes();
    const lease = await here.mutex(scene.key).acquire({ minHold: scene.ttl * 2 });
    const releasing = meanwhile(lease.release());
    await scene.pass(scene.ttl / 4);
    assert.equal(await there.mutex(scene.key).tryAcquire(), null, 'minHold is not over');
    await scene.soon(releasing, 'a release');
    await scene.isFree();
  }),
  law('delay keeps the key taken after a hold that expired, and not after a release', ['expires'], async (scene) => {
    const [here, there] = await scene.processes({ ttl: scene.ttl, delay: scene.ttl });
    const released = await here.mutex(scene.key).acquire();
    assert.ok(released.remaining <= scene.ttl, `${released.remaining} ms left of a ttl of ${scene.ttl} ms`);
    await released.release();
    const lease = await scene.soon(there.mutex(scene.key).acquire({ renew: false }), 'a hold after a release');
    const deadline = scene.clock.now() + lease.remaining;
    const following = async (): Promise<readonly [next: Lease, at: number]> => [
      await here.mutex(scene.key).acquire(),
      scene.clock.now(),
    ];
    const wait = meanwhile(following());
    await scene.expired();
    assert.equal(await lease.release(), false, 'a release after the loss freed nothing');
    const [next, at] = await scene.soon(wait, 'the next owner');
    const least = scene.ttl - scene.tolerance / 5;
    assert.ok(at - deadline >= least, `let in ${at - deadline} ms after the deadline, with a delay of ${scene.ttl} ms`);
    await next.release();
  }),
  law('a hold whose client died is lost by its deadline at the latest', ['faults.die'], async (scene) => {
    const client = await scene.another();
    const locks = await scene.locks({ ttl: scene.ttl }, client);
    const lease = await locks.mutex(scene.key).acquire();
    await scene.subject.faults!.die!(client);
    await toldOfLoss(scene, lease);
    await scene.expired();
    assert.equal(lease.held, false);
    assert.equal(await lease.release(), false, 'a release after the loss freed nothing');
    await scene.isFree();
  }),
];

/**
 * Waits for the loss signal and checks that it comes once.
 * @returns whether it came before the lease was over, by the order of two timers: a process that stood still keeps that order
 */
export async function toldOfLoss(scene: Scene, lease: Lease): Promise<boolean> {
  let told = 0;
  let [over, inTime] = [false, false];
  const end = (): void => {
    over = true;
  };
  const cancel = Number.isFinite(lease.remaining) ? scene.clock.after(lease.remaining, end) : end;
  const loss = new Promise<void>((resolve) => {
    lease.signal.addEventListener('abort', () => {
      told++;
      inTime = !over;
      cancel();
      resolve();
    });
  });
  await scene.soon(loss, 'the loss signal');
  await fails(() => Promise.reject(lease.signal.reason), 'LOCK_LOST', 'the reason of the signal');
  await scene.expired();
  assert.equal(told, 1, 'times the loss was told');
  return inTime;
}
