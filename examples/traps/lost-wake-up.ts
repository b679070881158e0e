import { setTimeout as pass } from 'node:timers/promises';
import type { Trap } from './scene.ts';

export const lostWakeUp: Trap = {
  title: 'A lost wake-up: the release comes between the look and the listening',

  async naive(scene) {
    const [holder, waiter, ear] = [scene.client(), scene.client(), scene.client()];
    await holder.set('job', 'holder', 'PX', 60_000, 'NX');
    await waiter.set('job', 'waiter', 'PX', 60_000, 'NX'); // refused: so it subscribes…
    await holder.del('job');
    await holder.publish('job:free', ''); // …but this comes first
    await ear.subscribe('job:free');
    const woken = await Promise.race([new Promise((wake) => ear.once('message', () => wake(true))), pass(500, false)]);
    return { right: woken === true, seen: `the lock is free, and the waiter ${woken ? 'has it' : 'sleeps on'}` };
  },

  /** The mailbox is open before the first attempt is sent, and the release is the grant. A hundred times, as close as it gets. */
  async holdfast(scene) {
    const [holder, waiter] = [scene.locks().mutex('job'), scene.locks().mutex('job')];
    let longest = 0;
    for (let i = 0; i < 100; i++) {
      const lease = await holder.acquire();
      const asked = performance.now();
      const [next] = await Promise.all([waiter.acquire(), lease.release()]);
      longest = Math.max(longest, performance.now() - asked);
      await next.release();
    }
    return { right: longest < 1_000, seen: `of 100 waits beside a release the longest took ${Math.ceil(longest)} ms` };
  },
};
