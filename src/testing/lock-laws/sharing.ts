import assert from 'node:assert/strict';
import { around } from '../around.ts';
import { type Law, law } from '../law.ts';

/** Several `Locks` over one backend, in one process. */
export const sharing: readonly Law[] = [
  law(
    'the end of one Locks takes nothing from others over the same backend, and the last one closes it',
    async (scene) => {
      const backend = await scene.another();
      let closed = 0;
      const counted = around(backend, {
        close: () => {
          closed++;
          return backend.close();
        },
      });
      const [first, second] = [await scene.locks({}, counted), await scene.locks({ ttl: scene.ttl }, counted)];
      const other = await scene.locks();
      const taken = await first.mutex(`${scene.key}/first`).acquire();
      const held = await second.mutex(scene.key).acquire();
      const waiting = other.mutex(scene.key).acquire();
      await first.close();
      assert.equal(closed, 0, 'the backend must stay open while others use it');
      assert.equal(taken.held, false, 'what the closed Locks held must be released');
      await scene.isFree(`${scene.key}/first`);
      await scene.expired(); // a connection that ends would end the hold by now, as would a renewal that fails
      held.assertHeld();
      assert.equal(await other.mutex(scene.key).tryAcquire(), null, 'the other Locks must hold the key still');
      assert.equal(await held.release(), true);
      await (await scene.soon(waiting, 'the turn of the other process')).release();
      await (await scene.soon(second.mutex(scene.key).acquire(), 'the next hold of the other Locks')).release();
      await second.close();
      assert.equal(closed, 1, 'the last one must close the backend');
    },
  ),
];
