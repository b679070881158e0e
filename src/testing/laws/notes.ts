import assert from 'node:assert/strict';
import { type Law, law } from '../law.ts';
import type { Scene } from '../scene.ts';

/** Notes that two write at once: enough for writers that meet in an unlucky moment. */
const ROUNDS = 24;
const LONG = 60_000;

const namesIn = ({ key }: Scene): string[] => Array.from({ length: ROUNDS }, (_, n) => `${key}/${n}`);

/** Notes, which an engine keeps beside the locks. */
export const notes: readonly Law[] = [
  law(
    'a hint is there for the other client, until it is written again, forgotten, or over',
    ['notes'],
    async (scene) => {
      const { clients, key } = scene;
      const [{ hints: mine }, { hints: others }] = clients;
      const read = () => others!.read(key);
      assert.equal(await read(), undefined);
      await mine!.write(key, 'first', LONG);
      await mine!.write(key, 'the second …', LONG);
      assert.equal(await read(), 'the second …');
      assert.equal(await others!.read(`${key}/`), undefined, 'a note of another name');
      await mine!.write(key, undefined, 0);
      assert.equal(await read(), undefined, 'after it was forgotten');
      await mine!.write(key, 'long', LONG);
      await mine!.write(key, 'short', scene.ttl);
      assert.equal(await read(), 'short');
      await scene.expired();
      assert.equal(await read(), undefined, 'after its time, also where another one was there before');
    },
  ),
  law('of two hints that are written at once under one name one stays', ['notes'], async (scene) => {
    const [{ hints: mine }, { hints: others }] = scene.clients;
    const lost = await Promise.all(
      namesIn(scene).map(async (name) => {
        await Promise.all([mine!.write(name, 'mine', LONG), others!.write(name, 'theirs', LONG)]);
        const [here, there] = await Promise.all([mine!.read(name), others!.read(name)]);
        assert.equal(here, there, 'both clients read the same note');
        await mine!.write(name, undefined, 0);
        return here === undefined;
      }),
    );
    assert.equal(lost.filter((each) => each).length, 0, `of ${ROUNDS} notes, lost though both were told as written`);
  }),
  law('a hint is there all the while it is written again', ['notes'], async (scene) => {
    const [{ hints: mine }, { hints: others }] = scene.clients;
    const { key } = scene;
    let written = 0;
    await mine!.write(key, '0', LONG);
    const writing = (async () => {
      for (let n = 1; n <= ROUNDS; n++) {
        await mine!.write(key, `${n}`, LONG);
        written = n;
      }
    })();
    while (written < ROUNDS) {
      const before = written;
      const read = await scene.soon(
        Promise.race([others!.read(key), writing.then(() => `${ROUNDS}`)]),
        'a note is read',
      );
      assert.ok(Number(read) >= before, `read ${read} when ${before} was written`);
    }
    await mine!.write(key, undefined, 0);
  }),
  law('a hint stays when its writer dies, also while it writes it again', ['notes', 'faults.die'], async (scene) => {
    const [mine, others] = scene.clients;
    await mine.hints!.write(scene.key, 'first', LONG);
    void mine.hints!.write(scene.key, 'second', LONG).catch(() => {});
    await scene.subject.faults!.die!(mine);
    const read = await others.hints!.read(scene.key);
    assert.ok(read === 'first' || read === 'second', `read ${read} after its writer had died`);
    await others.hints!.write(scene.key, undefined, 0);
  }),
  law('a hint is apart from the lock of its name', ['notes', 'inspect'], async (scene) => {
    const { hints } = scene.clients[0];
    await hints!.write(scene.key, 'kept', LONG);
    assert.deepEqual(await scene.standings(), []);
    const holder = scene.contender();
    await holder.gets();
    assert.equal(await hints!.read(scene.key), 'kept');
    await holder.leaves();
    assert.equal(await hints!.read(scene.key), 'kept');
    await hints!.write(scene.key, undefined, 0);
  }),
];
