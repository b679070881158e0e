import assert from 'node:assert/strict';
import type { Hints } from '../../../src/core/index.ts';
import { type Law, law, needing } from '../case.ts';
import type { Scene } from '../scene.ts';

/** How many hints two clients write at once: enough to find a race between them. */
const ROUNDS = 24;
const LONG_MS = 60_000;

const hintsOf = ({ clients }: Scene): [mine: Hints, others: Hints] => [clients[0].hints!, clients[1].hints!];

/** Hints, which an engine keeps apart from the locks. */
export const hints: readonly Law[] = needing('hints', [
  law('a hint is there for the other client, until it is written again, forgotten, or over', async (scene) => {
    const [mine, others] = hintsOf(scene);
    const { key } = scene;
    const reads = async (text: string | undefined, what?: string): Promise<void> =>
      assert.equal(await others.read(key), text, what);
    await reads(undefined);
    await mine.write(key, 'first', LONG_MS);
    await mine.write(key, 'the second …', LONG_MS);
    await reads('the second …');
    assert.equal(await others.read(`${key}/`), undefined, 'a hint of another name');
    await mine.write(key, undefined, 0);
    await reads(undefined, 'after it was forgotten');
    await mine.write(key, 'long', LONG_MS);
    await mine.write(key, 'short', scene.ttl);
    await reads('short');
    await scene.expired();
    await reads(undefined, 'after its time, also where another one was there before');
  }),
  law('of two hints that are written at once under one name one stays', async (scene) => {
    const [mine, others] = hintsOf(scene);
    const names = Array.from({ length: ROUNDS }, (_, n) => `${scene.key}/${n}`);
    const kept = await Promise.all(
      names.map(async (name) => {
        await Promise.all([mine.write(name, 'mine', LONG_MS), others.write(name, 'theirs', LONG_MS)]);
        const [here, there] = await Promise.all([mine.read(name), others.read(name)]);
        assert.equal(here, there, 'both clients read the same hint');
        await mine.write(name, undefined, 0);
        return here;
      }),
    );
    const lost = kept.filter((text) => text === undefined).length;
    assert.equal(lost, 0, `of ${ROUNDS} hints, lost though both were told as written`);
  }),
  law('a hint is there all the while it is written again', async (scene) => {
    const [mine, others] = hintsOf(scene);
    const { key } = scene;
    let written = 0;
    await mine.write(key, '0', LONG_MS);
    const writing = (async () => {
      for (let n = 1; n <= ROUNDS; n++) {
        await mine.write(key, `${n}`, LONG_MS);
        written = n;
      }
    })();
    while (written < ROUNDS) {
      const before = written;
      const reading = Promise.race([others.read(key), writing.then(() => `${ROUNDS}`)]);
      const read = await scene.soon(reading, 'a hint is read');
      assert.ok(Number(read) >= before, `read ${read} when ${before} was written`);
    }
    await mine.write(key, undefined, 0);
  }),
  law('a hint stays when its writer dies, also while it writes it again', ['faults.die'], async (scene) => {
    const [mine, others] = hintsOf(scene);
    await mine.write(scene.key, 'first', LONG_MS);
    void mine.write(scene.key, 'second', LONG_MS).catch(() => {});
    await scene.subject.faults!.die!(scene.clients[0]);
    const read = await others.read(scene.key);
    assert.ok(read === 'first' || read === 'second', `read ${read} after its writer had died`);
    await others.write(scene.key, undefined, 0);
  }),
  law('a hint is apart from the lock of its name', ['inspect'], async (scene) => {
    const [mine] = hintsOf(scene);
    await mine.write(scene.key, 'kept', LONG_MS);
    assert.deepEqual(await scene.entries(), []);
    const holder = await scene.holder();
    assert.equal(await mine.read(scene.key), 'kept');
    await holder.leaves();
    assert.equal(await mine.read(scene.key), 'kept');
    await mine.write(scene.key, undefined, 0);
  }),
]);
