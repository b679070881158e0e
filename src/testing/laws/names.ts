import assert from 'node:assert/strict';
import type { Law } from '../case.ts';
import { LOOKALIKES, strangeNames } from '../names.ts';
import type { Scene } from '../scene.ts';

const STRANGE = 24;

/** Keys are data: different keys never meet, and each is shown as it was given. */
export const names: readonly Law[] = [
  ...Object.entries(LOOKALIKES).map(
    ([kind, keys]): Law => ({
      name: `different keys never meet: ${kind}`,
      alone: true,
      check: (scene) => neverMeet(scene, keys),
    }),
  ),
  {
    name: 'different keys never meet: at random',
    alone: true,
    check: (scene) => neverMeet(scene, strangeNames(STRANGE, scene.random)),
  },
  {
    name: 'inspect takes its prefix as it stands, and gives keys back as they were',
    needs: ['inspect'],
    async check(scene) {
      const keys = ['', '*', '?', '%', '_', '[a]', '/', '/%2F', '\\', '\0', "'", '{', '🔒', '__proto__'].map(
        (end) => scene.key + end,
      );
      for (const key of keys) await scene.contender({ key }).gets();
      for (const prefix of keys) {
        const seen = (await scene.standings(prefix)).map(({ key }) => key);
        const expected = keys.filter((key) => key.startsWith(prefix));
        assert.deepEqual(seen.sort(), expected.sort(), `keys that start with ${JSON.stringify(prefix)}`);
      }
    },
  },
  {
    name: 'no key reaches another prefix',
    needs: ['apart'],
    alone: true,
    async check(scene) {
      const apart = await scene.another('apart');
      for (const key of Object.values(LOOKALIKES).flat()) {
        const both = [scene.contender({ key }, scene.clients[0]), scene.contender({ key }, apart)];
        for (const holder of both) await holder.gets();
        for (const holder of both) await holder.leaves();
      }
    },
  },
];

/** All are held at once, so two that meet anywhere on the way show as a refusal or as one hold of two keys. */
async function neverMeet(scene: Scene, keys: readonly string[]): Promise<void> {
  const holders = keys.map((key) => scene.contender({ key }));
  for (const holder of holders) await holder.gets();
  for (const holder of holders) await scene.contender({ key: holder.claim.key, queue: false }).waits();
  for (const holder of holders) await holder.leaves();
}
