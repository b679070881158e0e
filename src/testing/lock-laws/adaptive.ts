import assert from 'node:assert/strict';
import { type Law, law } from '../law.ts';

/** Another process knows what one holder learns. */
export const adaptive: readonly Law[] = [
  law(
    'after work that outgrew its lease the next lease is longer, in another process too, and comes back',
    ['notes', 'expires'],
    async (scene) => {
      const cap = scene.ttl * 4;
      const [here, there] = await scene.processes({ ttl: scene.ttl, adaptive: { cap } });
      let remaining = 0;
      // A lesson that takes the engine longer than a second is given up, so on a busy machine one may be lost.
      for (let lesson = 0; lesson < 3 && remaining <= scene.ttl; lesson++) {
        const slow = await here.mutex(scene.key).acquire();
        await scene.expired();
        if (lesson === 0) assert.equal(slow.held, false, 'a lease of a ttl, after more than a ttl');
        await slow.release();
        const next = await there.mutex(scene.key).acquire();
        remaining = next.remaining;
        await next.release();
      }
      assert.ok(remaining > scene.ttl && remaining <= cap, `remaining ${remaining} of a longer lease`);
      // Their work is so short that even the average falls below the ttl.
      for (let run = 0; run < 20; run++) await here.mutex(scene.key).run(() => {});
      const last = await there.mutex(scene.key).acquire();
      assert.ok(last.remaining <= scene.ttl, `remaining ${last.remaining}: quick work needs no long lease`);
      await last.release();
    },
  ),
];
