import assert from 'node:assert/strict';
import { type Law, law } from '../law.ts';
import { LOOKALIKES, strangeNames } from '../names.ts';
import type { Scene } from '../scene.ts';

const STRANGE = 24;

/** These laws use keys with fixed names. */
const alone = (given: Law): Law => ({ ...given, alone: true });

/** Keys are data: different keys never meet, and the listing shows each key as it was given. */
export const names: readonly Law[] = [
  ...Object.entries(LOOKALIKES).map(([kind, keys]) =>
    alone(law(`different keys never meet: ${kind}`, (scene) => neverMeet(scene, keys))),
  ),
  alone(law('different keys never meet: at random', (scene) => neverMeet(scene, strangeNames(STRANGE, scene.random)))),
  law('inspect takes its prefix as it stands, and gives keys back as they were', ['inspect'], async (scene) => {
    const ends = ['', '*', '?', '%', '_', '[a]', '/', '/%2F', '\\', '\0', "'", '{', '🔒', '__proto__'];
    const keys = ends.map((end) => scene.key + end);
    for (const key of keys) await scene.contender({ key }).gets();
    for (const prefix of keys) {
      const seen = (await scene.standings(prefix)).map(({ key }) => key);
      const expected = keys.filter((key) => key.startsWith(prefix));
      assert.deepEqual(seen.sort(), expected.sort(), `keys that start with ${JSON.stringify(prefix)}`);
    }
  }),
  alone(
    law('no key reaches another prefix', ['apart'], async (scene) => {
      const apart = await scene.another('apart');
      for (const key of Object.values(LOOKALIKES).flat()) {
        const both = [scene.contender({ key }, scene.clients[0]), scene.contender({ key }, apart)];
        for (const holder of both) await holder.gets();
        for (const holder of both) await holder.leaves();
      }
    }),
  ),
];

/** All keys are held at once. If two of them meet, there is a refusal, or one hold of two keys. */
async function neverMeet(scene: Scene, keys: readonly string[]): Promise<void> {
  const holders = keys.map((key) => scene.contender({ key }));
  for (const holder of holders) await holder.gets();
  for (const holder of holders) await scene.contender({ key: holder.claim.key, queue: false }).waits();
  for (const holder of holders) await holder.leaves();
}
