import { setTimeout as pass } from 'node:timers/promises';
import type { Outcome, Scene, Trap } from './scene.ts';

const WAITERS = 20;
const WORK = 20;

type Worker = () => Promise<unknown>;

/** How often the server had to read from a client until everyone had the lock in turn. */
async function cost(scene: Scene, worker: () => Worker): Promise<Outcome> {
  const client = scene.client();
  const reads = async () => Number(/total_reads_processed:(\d+)/.exec(await client.info('stats'))![1]);
  const workers = Array.from({ length: WAITERS }, worker);
  await Promise.all(workers.map((work) => work())); // connects
  const before = await reads();
  await Promise.all(workers.map((work) => work()));
  const each = Math.round(((await reads()) - before) / WAITERS);
  return { right: each <= 10, seen: `each of ${WAITERS} who had the lock in turn asked ${each} times` };
}

export const spinning: Trap = {
  title: 'Spinning: everyone asks all the time, and the server melts',

  naive: (scene) =>
    cost(scene, () => {
      const client = scene.client();
      return async () => {
        while (!(await client.set('job', 'me', 'PX', 60_000, 'NX'))) await pass(2);
        await pass(WORK);
        await client.del('job');
      };
    }),

  /** Waiters sleep; each release wakes the next one. `Locks` for each, as in processes of their own: nothing is saved by waiting together. */
  holdfast: (scene) =>
    cost(scene, () => {
      const lock = scene.locks().mutex('job');
      return () => lock.run(() => pass(WORK));
    }),
};
