import assert from 'node:assert/strict';
import { type Law, law } from '../law.ts';

/** Notes, which an engine keeps beside the locks. */
export const notes: readonly Law[] = [
  law(
    'a note is there for the other client, until it is written anew, forgotten, or over',
    ['notes'],
    async (scene) => {
      const { clients, key } = scene;
      const [{ notes: mine }, { notes: others }] = clients;
      const read = () => others!.read(key);
      assert.equal(await read(), undefined);
      await mine!.write(key, 'first', 60_000);
      await mine!.write(key, 'second', 60_000);
      assert.equal(await read(), 'second');
      assert.equal(await others!.read(`${key}/`), undefined, 'a note of another name');
      await mine!.write(key, undefined, 0);
      assert.equal(await read(), undefined, 'after it was forgotten');
      await mine!.write(key, 'short', scene.ttl);
      assert.equal(await read(), 'short');
      await scene.lapsed();
      assert.equal(await read(), undefined, 'after its time');
    },
  ),
  law('a note is apart from the lock of its name', ['notes', 'inspect'], async (scene) => {
    const { notes } = scene.clients[0];
    await notes!.write(scene.key, 'kept', 60_000);
    assert.deepEqual(await scene.standings(), []);
    const holder = scene.contender();
    await holder.gets();
    assert.equal(await notes!.read(scene.key), 'kept');
    await holder.leaves();
    assert.equal(await notes!.read(scene.key), 'kept');
    await notes!.write(scene.key, undefined, 0);
  }),
];
