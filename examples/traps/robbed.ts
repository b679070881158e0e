import { setTimeout as pass } from 'node:timers/promises';
import type { Trap } from './scene.ts';

export const robbed: Trap = {
  title: "Releasing somebody else's lock: the next owner is robbed",

  async naive(scene) {
    const client = scene.client();
    await client.set('job', 'first', 'PX', 100, 'NX');
    await pass(150); // too slow: the lease is over
    await client.set('job', 'second', 'PX', 60_000, 'NX');
    await client.del('job'); // the first one's "finally"
    const third = await client.set('job', 'third', 'PX', 60_000, 'NX');
    return {
      right: third === null,
      seen: third ? 'while the second works, a third has the lock' : 'the second keeps it',
    };
  },

  async holdfast(scene) {
    const lock = () => scene.locks().mutex('job');
    const first = await lock().acquire({ ttl: 100, renew: false });
    await pass(150);
    await using second = await lock().acquire();
    const freed = await first.release();
    const third = await lock().tryAcquire();
    const right = !freed && third === null && second.held;
    return { right, seen: `the late release says ${freed}, and the second ${right ? 'keeps it' : 'is robbed'}` };
  },
};
