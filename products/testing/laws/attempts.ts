import assert from 'node:assert/strict';
import type { Claim } from '../../../src/core/index.ts';
import { type Law, law, needing } from '../case.ts';
import { ANY } from '../course.ts';
import { stateOf, stored, stores } from './values.ts';

const COUNTED_MS = 600_000;

/** A claim that asks for a value. Its hold counts. */
const counted = (mark = '-', counts = COUNTED_MS): Pick<Claim, 'accepts'> => ({ accepts: { ...ANY, mark, counts } });

/** How many holds of a key left no value, and the mark of the hold ahead. */
export const attempts: readonly Law[] = needing('values', [
  law('attempts count the holds that left no words, each once, until words are left', async (scene) => {
    for (let attempts = 1; attempts <= 3; attempts++) {
      const holder = scene.participant(counted(`try${attempts}`));
      assert.equal((await holder.gets()).attempts, attempts);
      assert.equal((await holder.gets()).attempts, attempts, 'an attempt again is the same hold');
      const seen = await stateOf(scene);
      assert.deepEqual([seen.attempts, seen.mark], [attempts, `try${attempts}`]);
      await holder.leaves();
    }
    await stores(await scene.holder(counted()), 'done');
    const seen = await stateOf(scene);
    assert.deepEqual([seen.attempts, seen.value?.text], [0, 'done']);
  }),
  law('attempts count a hold that has expired', ['expiry'], async (scene) => {
    await scene.holder({ ...counted(), ttl: scene.ttl });
    await scene.expired();
    assert.equal((await scene.participant(counted()).gets()).attempts, 2);
  }),
  law('attempts count the next claim of a release', async (scene) => {
    const first = await scene.holder(counted('first'));
    const next = scene.participant(counted('next'), first.client);
    const answer = await first.release(next.claim);
    if (answer.next?.granted) assert.equal(answer.next.attempts, 2, 'as the release tells it');
    else assert.equal((await next.gets()).attempts, 2);
  }),
  law('attempts are forgotten after their time', ['expiry'], async (scene) => {
    await scene.holder({ ...counted('-', 1), ttl: scene.ttl });
    await scene.expired(scene.ttl + 1_000); // engines that count in seconds keep attempts longer
    assert.equal((await scene.participant(counted()).gets()).attempts, 1);
  }),
  law('a claim that asks is told the mark of the hold before it', ['fairness'], async (scene) => {
    await scene.holder(counted('a+/=9'));
    assert.equal((await scene.participant({ accepts: ANY }).waits()).mark, 'a+/=9');
    assert.equal((await scene.participant().waits()).mark, undefined, 'a claim that does not ask');
  }),
  law('a mark is told only while the hold that set it stands first', ['fairness'], async (scene) => {
    const first = await scene.holder(counted('first'));
    const [next, last] = [scene.participant(counted('next')), scene.participant({ accepts: ANY })];
    assert.equal((await next.waits()).mark, 'first');
    assert.equal((await last.waits()).mark, 'first');
    await first.leaves();
    assert.equal((await last.waits()).mark, '-', 'after the next is admitted, and before it has asked');
    const { token } = await next.gets();
    assert.equal((await last.waits()).mark, 'next');
    assert.equal((await stateOf(scene)).begun, token);
    await next.leaves();
    await last.gets();
    await last.leaves();
    await scene.holder();
    assert.equal((await scene.participant({ accepts: ANY }).waits()).mark, '-', 'behind a hold without a mark');
    assert.equal((await stateOf(scene)).begun, token, 'the last hold that counts');
  }),
  law('a mark ends with the expiry of its hold', ['expiry', 'fairness'], async (scene) => {
    await scene.holder({ ...counted('dead'), ttl: scene.ttl });
    const [next, last] = [scene.participant({ accepts: ANY }), scene.participant({ accepts: ANY })];
    assert.equal((await next.waits()).mark, 'dead');
    await last.waits();
    await scene.expired();
    assert.equal((await last.waits()).mark, '-');
    await next.gets();
    assert.equal((await last.waits()).mark, '-');
  }),
  law('forget removes words and attempts, and nothing else', async (scene) => {
    const forget = (key: string) => scene.clients[0].values!.forget(key);
    assert.equal(await forget(scene.key), false);
    await stored(scene, 'forgotten');
    assert.equal(await forget(scene.key), true);
    const holder = await scene.holder(counted());
    assert.equal(await forget(scene.key), true, 'an attempt');
    const seen = await stateOf(scene);
    assert.deepEqual([seen.value, seen.attempts], [undefined, 0]);
    await scene.passing().waits();
    await holder.leaves();
  }),
]);
