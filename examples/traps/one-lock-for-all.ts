import { setTimeout as pass } from 'node:timers/promises';
import type { Outcome, Scene, Trap } from './scene.ts';

const BUYERS = 40;
const WORK = 10;

async function sale(scene: Scene, keyOf: (buyer: number) => string): Promise<Outcome> {
  const locks = scene.locks();
  const began = performance.now();
  await Promise.all(Array.from({ length: BUYERS }, (_, buyer) => locks.mutex(keyOf(buyer)).run(() => pass(WORK))));
  const took = Math.round(performance.now() - began);
  return { right: took < (BUYERS * WORK) / 2, seen: `${BUYERS} buyers of ${WORK} ms each took ${took} ms` };
}

export const oneLockForAll: Trap = {
  title: 'One lock for all the stock: everyone queues',
  naive: (scene) => sale(scene, () => 'stock:p1'),
  /** The units are split over segments, each with a lock and a count of its own. */
  holdfast: (scene) => sale(scene, (buyer) => `stock:p1:${buyer % 10}`),
};
