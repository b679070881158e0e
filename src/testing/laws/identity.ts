import assert from 'node:assert/strict';
import { type Law, law } from '../law.ts';

/** An id names one claim, however often it arrives: so a lost reply does no harm. */
export const identity: readonly Law[] = [
  law('a repeated attempt keeps its token', async (scene) => {
    const holder = scene.contender();
    const { token } = await holder.gets();
    assert.equal((await holder.gets()).token, token, 'the same id, asked again, must have the same token');
  }),
  law('a claim attempted twice is released once', async (scene) => {
    const [holder, other] = scene.pair();
    await holder.gets();
    await holder.gets();
    await holder.leaves();
    await other.gets();
  }),
  law('a repeated attempt keeps its place in line', ['fair'], async (scene) => {
    const holder = scene.contender();
    const [first, second] = scene.pair();
    await holder.gets();
    await first.waits();
    await second.waits();
    await first.waits();
    await holder.leaves();
    await second.waits();
    await first.gets();
  }),
  law('a refusal without queue leaves nothing behind', async (scene) => {
    const holder = scene.contender();
    const passing = scene.contender({ queue: false });
    const next = scene.contender({ queue: false });
    await holder.gets();
    await passing.waits();
    await passing.hasNothing();
    await holder.leaves();
    await next.gets();
  }),
  law('a refused claim without queue is not admitted later', async (scene) => {
    const holder = scene.contender();
    const passing = scene.contender({ queue: false });
    await holder.gets();
    await passing.waits();
    await holder.leaves();
    await passing.isGone();
    await passing.hasNothing();
  }),
];
