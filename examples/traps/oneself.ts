import { setTimeout as pass } from 'node:timers/promises';
import type { Trap } from './scene.ts';

export const oneself: Trap = {
  title: 'Code under the lock calls code that takes it too: a deadlock with oneself',

  async naive(scene) {
    const client = scene.client();
    const locked = async (work: () => Promise<boolean>): Promise<boolean> => {
      for (let attempts = 0; !(await client.set('job', 'me', 'PX', 60_000, 'NX')); attempts++) {
        if (attempts === 50) return false; // it would be for ever
        await pass(5);
      }
      return work().finally(() => client.del('job'));
    };
    const entered = await locked(() => locked(async () => true));
    return {
      right: entered,
      seen: entered ? 'it went in' : 'the inner call waits for the outer one, which waits for it',
    };
  },

  async holdfast(scene) {
    const lock = scene.locks().mutex('job');
    const same = await lock.run((outer) => lock.run((inner) => inner.token === outer.token, { wait: '1s' }));
    return { right: same, seen: 'the inner call shares the hold of the outer one, with the same token' };
  },
};
