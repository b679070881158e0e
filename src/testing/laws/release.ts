import assert from 'node:assert/strict';
import { type Law, law } from '../law.ts';

/** A release frees its own claim, once. In the same step the next claim of its process may join the line. */
export const release: readonly Law[] = [
  law('the release of an unknown id frees nothing', async (scene) => {
    const [holder, stranger] = scene.pair({ queue: false });
    await stranger.hasNothing();
    await holder.gets();
    await stranger.hasNothing();
    await scene.contender({ queue: false }).waits();
  }),
  law('a second release frees nothing, least of all the next holder', async (scene) => {
    const [former, holder] = scene.pair();
    await former.gets();
    await former.leaves();
    await holder.gets();
    await former.hasNothing();
    await scene.contender({ queue: false }).waits();
    await holder.leaves();
  }),
  law('a release hands a free key to its next claim', async (scene) => {
    const holder = scene.contender();
    const next = scene.contender({}, holder.client);
    const { token } = await holder.gets();
    const answer = await holder.release(next.claim);
    assert.equal(answer.freed, true, `${holder} had a hold to free`);
    if (answer.next && !answer.next.granted) assert.fail(`${next} must be granted in the step that freed the key`);
    const grant = await next.gets();
    if (answer.next?.granted) assert.equal(grant.token, answer.next.token, 'the token told by the release');
    if (next.client.traits.fencing !== 'never') assert.ok(grant.token > token, `${grant.token} after ${token}`);
    await scene.contender({ queue: false }).waits();
  }),
  law('the next claim of a release stands behind those who wait', ['fair'], async (scene) => {
    const [holder, waiter] = scene.pair();
    const next = scene.contender({}, holder.client);
    await holder.gets();
    await waiter.waits();
    const answer = await holder.release(next.claim);
    assert.notEqual(answer.next?.granted, true, `${next} was granted past ${waiter}`);
    await next.waits();
    await waiter.gets();
    await waiter.leaves();
    await next.gets();
  }),
  law('a release of nothing still lets its next claim in', async (scene) => {
    const stranger = scene.contender();
    const next = scene.contender({}, stranger.client);
    const answer = await stranger.release(next.claim);
    assert.equal(answer.freed, false, `${stranger} had nothing to free`);
    assert.notEqual(answer.next?.granted, false, `${next} was refused a free key`);
    await next.gets();
  }),
];
