import assert from 'node:assert/strict';
import { type Law, law } from '../law.ts';

/** Another process knows what one holder learns. */
export const adaptive: readonly Law[] = [
  law(
    'after work that outgrew its lease the next lease is longer, in another process too, and comes back',
    ['notes', 'lapses'],
    async (scene) => {
      const cap = scene.ttl * 4;
      const [here, there] = await scene.processes({ ttl: scene.ttl, adaptive: { cap } });
      const slow = await here.mutex(scene.key).acquire();
      await scene.lapsed();
      assert.equal(slow.held, false, 'a lease of a ttl, after more than a ttl');
      await slow.release();
      const next = await there.mutex(scene.key).acquire();
      assert.ok(next.remaining > scene.ttl && next.remaining <= cap, `remaining ${next.remaining} of a longer lease`);
      await next.release();
      // Their work is so short that even the average falls below the ttl.
      for (let run = 0; run < 20; run++) await here.mutex(scene.key).run(() => {});
      const last = await there.mutex(scene.key).acquire();
      assert.ok(last.remaining <= scene.ttl, `remaining ${last.remaining}: quick work needs no long lease`);
      await last.release();
    },
  ),
];
