import assert from 'node:assert/strict';
import type { Law } from '../case.ts';

/** An id names one claim, however often it is sent: that is what makes a lost reply harmless. */
export const identity: readonly Law[] = [
  {
    name: 'a repeated attempt keeps its ticket',
    async check(scene) {
      const holder = scene.contender();
      const { ticket } = await holder.gets();
      assert.equal((await holder.gets()).ticket, ticket, 'the same id, asked again, must have the same ticket');
    },
  },
  {
    name: 'a claim attempted twice is released once',
    async check(scene) {
      const [holder, other] = scene.pair();
      await holder.gets();
      await holder.gets();
      await holder.leaves();
      await other.gets();
    },
  },
  {
    name: 'a repeated attempt keeps its place in line',
    needs: ['fair'],
    async check(scene) {
      const holder = scene.contender();
      const [first, second] = scene.pair();
      await holder.gets();
      await first.waits();
      await second.waits();
      await first.waits();
      await holder.leaves();
      await second.waits();
      await first.gets();
    },
  },
  {
    name: 'a refusal without queue leaves nothing behind',
    async check(scene) {
      const holder = scene.contender();
      const passing = scene.contender({ queue: false });
      const next = scene.contender({ queue: false });
      await holder.gets();
      await passing.waits();
      await passing.hasNothing();
      await holder.leaves();
      await next.gets();
    },
  },
  {
    name: 'a refused claim without queue is not admitted later',
    async check(scene) {
      const holder = scene.contender();
      const passing = scene.contender({ queue: false });
      await holder.gets();
      await passing.waits();
      await holder.leaves();
      await passing.isGone();
      await passing.hasNothing();
    },
  },
];
