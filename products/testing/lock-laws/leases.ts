import assert from 'node:assert/strict';
import { deadlineOf } from '../../../src/core/index.ts';
import { type Law, law, needing } from '../case.ts';
import { meanwhile } from '../limited.ts';
import { fails, isTaken, leavingNothing, toldOfLoss } from './outcomes.ts';

/** Laws for engines whose leases expire. */
const ending: readonly Law[] = [
  law('without renewal a hold ends: told once, before the deadline, and then free for others', async (scene) => {
    const [here, there] = await scene.mutexes({ ttl: scene.ttl });
    const lease = await here.acquire({ renew: false, notice: scene.ttl / 2 });
    const following = there.acquire().then((next) => {
      assert.equal(lease.held, false, 'held, when another was granted');
      return next;
    });
    const wait = meanwhile(following);
    assert.ok(await toldOfLoss(scene, lease), 'told when it was over: there must be time to stop');
    const next = await scene.soon(wait, 'the next owner');
    assert.equal(await lease.release(), false, 'a release after the loss freed nothing');
    next.assertHeld();
    await next.release();
  }),
  law('a lost lease says LOCK_LOST, a released one LOCK_NOT_HELD', async (scene) => {
    const lock = (await scene.locks({ ttl: scene.ttl })).mutex(scene.key);
    const lost = await lock.acquire({ renew: false });
    await scene.expired();
    await fails(() => lost.assertHeld(), 'LOCK_LOST', 'assertHeld');
    await fails(() => lost.extend(scene.ttl), 'LOCK_LOST', 'extend');
    assert.equal(lost.remaining, 0);
    const released = await lock.acquire();
    await released.release();
    await fails(() => released.assertHeld(), 'LOCK_NOT_HELD', 'assertHeld');
    await fails(() => released.extend(scene.ttl), 'LOCK_NOT_HELD', 'extend');
    assert.equal(released.signal.aborted, false, 'a release is no loss');
  }),
  law('extend makes a lease last', async (scene) => {
    const [here, there] = await scene.mutexes({ ttl: scene.ttl });
    const lease = await here.acquire({ renew: false });
    await lease.extend(scene.ttl * 20);
    assert.ok(lease.remaining > scene.ttl, `${lease.remaining} ms left after an extension`);
    await scene.expired();
    lease.assertHeld();
    await isTaken(there, 'it was extended');
    await lease.release();
  }),
  law('delay keeps the key taken after a hold that expired, and not after a release', ['delay'], async (scene) => {
    const [here, there] = await scene.mutexes({ ttl: scene.ttl, delay: scene.ttl });
    const released = await here.acquire();
    assert.ok(released.remaining <= scene.ttl, `${released.remaining} ms left of a ttl of ${scene.ttl} ms`);
    await released.release();
    const lease = await scene.soon(there.acquire({ renew: false }), 'a hold after a release');
    const deadline = scene.clock.now() + lease.remaining;
    const wait = meanwhile(here.acquire().then((next) => ({ next, at: scene.clock.now() })));
    await scene.expired();
    assert.equal(await lease.release(), false, 'a release after the loss freed nothing');
    const { next, at } = await scene.soon(wait, 'the next owner');
    const least = scene.ttl - scene.tolerance / 5;
    assert.ok(at - deadline >= least, `let in ${at - deadline} ms after the deadline, with a delay of ${scene.ttl} ms`);
    await next.release();
  }),
  law('all() is lost when one part is', async (scene) => {
    const locks = await scene.locks();
    const options = { ttl: scene.ttl, renew: false };
    const short = locks.mutex(`${scene.key}/short`, options);
    const lease = await locks.all([short, `${scene.key}/long`]).acquire(options);
    await scene.expired();
    assert.equal(lease.held, false);
    assert.equal(lease.signal.aborted, true);
    await lease.release();
  }),
];

/** A hold lives while its process renews it, and its holder learns of the end in time. */
export const leases: readonly Law[] = leavingNothing([
  law('renewed in the background, a hold outlives three ttls with the token it had', async (scene) => {
    const ttl = Math.max(scene.ttl, 1_000);
    const [here, there] = await scene.mutexes({ ttl });
    const lease = await here.acquire();
    const { token } = lease;
    await scene.pass(ttl * 3);
    lease.assertHeld();
    assert.equal(lease.signal.aborted, false, 'the loss signal of a hold that is good');
    assert.equal(lease.token, token);
    await isTaken(there, 'it is held');
    assert.equal(await lease.release(), true, 'the release freed it');
  }),
  ...needing('expiry', ending),
  law('a lease lasts what was asked for from the grant, also when it was waited for', async (scene) => {
    const [here, there] = await scene.mutexes();
    const ttl = scene.ttl * 3;
    const lease = await here.acquire();
    const waiting = meanwhile(there.acquire({ ttl, renew: false }));
    await scene.pass(ttl * 0.3); // shortly before the waiter's next attempt
    const released = scene.clock.now();
    await lease.release();
    const next = await scene.soon(waiting, 'the next lease');
    while (next.held) await scene.pass(scene.ttl / 80);
    const lasted = scene.clock.now() - released;
    const least = deadlineOf(0, ttl) - scene.tolerance / 5;
    assert.ok(lasted >= least, `it asked for ${ttl} ms, and held for ${lasted} ms from the release before`);
  }),
  law('maxHold ends the renewal of work that hangs', async (scene) => {
    const [here, there] = await scene.mutexes({ ttl: scene.ttl });
    const lease = await here.acquire({ maxHold: scene.ttl });
    await toldOfLoss(scene, lease);
    const next = await scene.soon(there.acquire(), 'the next owner');
    assert.equal(lease.held, false);
    await next.release();
  }),
  law('minHold keeps the key taken after an early release', async (scene) => {
    const [here, there] = await scene.mutexes();
    const lease = await here.acquire({ minHold: scene.ttl * 2 });
    const releasing = meanwhile(lease.release());
    await scene.pass(scene.ttl / 4);
    await isTaken(there, 'minHold is not over');
    await scene.soon(releasing, 'a release');
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
  }),
  law(
    'after work that outgrew its lease the next lease is longer, in another process too, and comes back',
    ['hints', 'expiry'],
    async (scene) => {
      const cap = scene.ttl * 4;
      const [here, there] = await scene.mutexes({ ttl: scene.ttl, adaptive: { cap } });
      let remaining = 0;
      // The hint about a long hold is given up after a second. A busy machine may lose one, so it gets three tries.
      for (let lesson = 0; lesson < 3 && remaining <= scene.ttl; lesson++) {
        const slow = await here.acquire();
        await scene.expired();
        if (lesson === 0) assert.equal(slow.held, false, 'a lease of a ttl, after more than a ttl');
        await slow.release();
        remaining = await there.run((next) => next.remaining);
      }
      assert.ok(remaining > scene.ttl && remaining <= cap, `remaining ${remaining} of a longer lease`);
      // These runs are so short that even the average hold is shorter than the ttl.
      for (let run = 0; run < 20; run++) await here.run(() => {});
      const last = await there.acquire();
      assert.ok(last.remaining <= scene.ttl, `remaining ${last.remaining}: quick work needs no long lease`);
      await last.release();
    },
  ),
]);
