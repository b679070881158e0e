import { setTimeout as pass } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Outcome, Trap } from './scene.ts';

/** How long a request that has nothing to do with locks takes on the same client. */
async function unrelated(client: Redis): Promise<Outcome> {
  const began = performance.now();
  await client.get('something else');
  const took = Math.ceil(performance.now() - began);
  return { right: took < 500, seen: `meanwhile an unrelated GET took ${took} ms` };
}

export const busyConnections: Trap = {
  title: 'Waiters that occupy connections: unrelated requests fail',

  /** A lock as an element of a list: whoever pops it has it. The connection is blocked until somebody pushes it back. */
  async naive(scene) {
    const client = scene.client();
    const waiting = client.blpop('job', 1);
    const outcome = await unrelated(client);
    await waiting;
    return outcome;
  },

  /** A hundred wait, and no connection does. */
  async holdfast(scene) {
    const client = scene.client();
    const lease = await scene.locks().mutex('job').acquire();
    const locks = scene.locks({}, client);
    const waiting = Array.from({ length: 100 }, () => locks.mutex('job').run(async () => {}));
    await pass(50);
    const outcome = await unrelated(client);
    await lease.release();
    await Promise.all(waiting);
    return outcome;
  },
};
