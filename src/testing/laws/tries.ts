import assert from 'node:assert/strict';
import type { ValueCondition } from '../../core/index.ts';
import { type Law, law } from '../law.ts';
import { ANY, asker, leave, left, rememberedBy } from './words.ts';

const COUNTED: ValueCondition = { ...ANY, counts: 600_000 };

/** What an engine counts of the holds that left no words, and what it tells of the one before. */
export const attempts: readonly Law[] = [
  law('attempts count the holds that left no words, each once, until words are left', ['leaves'], async (scene) => {
    for (let attempts = 1; attempts <= 3; attempts++) {
      const holder = asker(scene, { ...COUNTED, mark: `try${attempts}` });
      assert.equal((await holder.gets()).attempts, attempts);
      assert.equal((await holder.gets()).attempts, attempts, 'an attempt again is the same hold');
      const seen = await rememberedBy(scene);
      assert.deepEqual([seen.attempts, seen.mark], [attempts, `try${attempts}`]);
      await holder.leaves();
    }
    const last = asker(scene, COUNTED);
    await last.gets();
    await last.leavesWords(leave('done'));
    const seen = await rememberedBy(scene);
    assert.deepEqual([seen.attempts, seen.value?.text], [0, 'done']);
  }),
  law('attempts count a hold that has expired', ['leaves', 'expires'], async (scene) => {
    await scene.contender({ accepts: COUNTED, ttl: scene.ttl }).gets();
    await scene.expired();
    assert.equal((await asker(scene, COUNTED).gets()).attempts, 2);
  }),
  law('attempts are forgotten after their time', ['leaves', 'expires'], async (scene) => {
    const { ttl } = scene;
    await scene.contender({ accepts: { ...ANY, counts: 1 }, ttl }).gets();
    await scene.expired(ttl + 1_000); // engines that count in seconds keep them longer
    assert.equal((await asker(scene, COUNTED).gets()).attempts, 1);
  }),
  law('a claim that asks is told the mark of the hold before it', ['leaves', 'fair'], async (scene) => {
    await asker(scene, { ...COUNTED, mark: 'a+/=9' }).gets();
    assert.equal((await asker(scene).waits()).mark, 'a+/=9');
    assert.equal((await scene.contender().waits()).mark, undefined, 'a claim that does not ask');
  }),
  law('a mark is told only while the hold that set it stands first', ['leaves', 'fair'], async (scene) => {
    const first = asker(scene, { ...COUNTED, mark: 'first' });
    await first.gets();
    const next = asker(scene, { ...COUNTED, mark: 'next' });
    const last = asker(scene);
    assert.equal((await next.waits()).mark, 'first');
    assert.equal((await last.waits()).mark, 'first');
    await first.leaves();
    const early = await last.waits();
    assert.equal(early.mark, '-', 'after the next is admitted, and before it has asked');
    const { token } = await next.gets();
    assert.equal((await last.waits()).mark, 'next');
    assert.equal((await rememberedBy(scene)).begun, token);
    await next.leaves();
    await last.gets();
    await last.leaves();
    const plain = scene.contender();
    await plain.gets();
    assert.equal((await asker(scene).waits()).mark, '-', 'behind a hold without a mark');
    assert.equal((await rememberedBy(scene)).begun, token, 'the last hold that counts');
  }),
  law('a mark ends with the expiry of its hold', ['leaves', 'expires', 'fair'], async (scene) => {
    await scene.contender({ accepts: { ...COUNTED, mark: 'dead' }, ttl: scene.ttl }).gets();
    const [next, last] = [asker(scene), asker(scene)];
    assert.equal((await next.waits()).mark, 'dead');
    await last.waits();
    await scene.expired();
    assert.equal((await last.waits()).mark, '-');
    await next.gets();
    assert.equal((await last.waits()).mark, '-');
  }),
  law('forget removes words and attempts, and nothing else', ['leaves'], async (scene) => {
    const { values } = scene.clients[0];
    assert.equal(await values!.forget(scene.key), false);
    await left(scene, 'forgotten');
    assert.equal(await values!.forget(scene.key), true);
    const holder = asker(scene, COUNTED);
    await holder.gets();
    assert.equal(await values!.forget(scene.key), true, 'a try');
    const seen = await rememberedBy(scene);
    assert.deepEqual([seen.value, seen.attempts], [undefined, 0]);
    await scene.contender({ queue: false }).waits();
    await holder.leaves();
  }),
];
