import assert from 'node:assert/strict';
import type { Law } from '../case.ts';

/** A release frees what is its own, once, and may let the next claim of its process stand in line in the same step. */
export const release: readonly Law[] = [
  {
    name: 'the release of an unknown id frees nothing',
    async check(scene) {
      const [holder, stranger] = scene.pair({ queue: false });
      await stranger.hasNothing();
      await holder.gets();
      await stranger.hasNothing();
      await scene.contender({ queue: false }).waits();
    },
  },
  {
    name: 'a second release frees nothing, least of all the next holder',
    async check(scene) {
      const [former, holder] = scene.pair();
      await former.gets();
      await former.leaves();
      await holder.gets();
      await former.hasNothing();
      await scene.contender({ queue: false }).waits();
      await holder.leaves();
    },
  },
  {
    name: 'a release hands a free key to its next claim',
    async check(scene) {
      const holder = scene.contender();
      const next = scene.contender({}, holder.client);
      const { ticket } = await holder.gets();
      const answer = await holder.release(next.claim);
      assert.equal(answer.freed, true, `${holder} had a hold to free`);
      if (answer.next && !answer.next.granted) assert.fail(`${next} must be granted in the step that freed the key`);
      const grant = await next.gets();
      if (answer.next?.granted) assert.equal(grant.ticket, answer.next.ticket, 'the ticket told by the release');
      if (next.client.traits.fencing !== 'never') assert.ok(grant.ticket > ticket, `${grant.ticket} after ${ticket}`);
      await scene.contender({ queue: false }).waits();
    },
  },
  {
    name: 'the next claim of a release stands behind those who wait',
    needs: ['fair'],
    async check(scene) {
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
    },
  },
  {
    name: 'a release of nothing still lets its next claim in',
    async check(scene) {
      const stranger = scene.contender();
      const next = scene.contender({}, stranger.client);
      const answer = await stranger.release(next.claim);
      assert.equal(answer.freed, false, `${stranger} had nothing to free`);
      assert.notEqual(answer.next?.granted, false, `${next} was refused a free key`);
      await next.gets();
    },
  },
];
