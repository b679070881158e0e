import { setTimeout as pass } from 'node:timers/promises';
import { Room, type Trap } from './scene.ts';

const LEASE = 200;
const WORK = 500;

export const outlivedLease: Trap = {
  title: 'Work that outlasts its lease: a second owner comes in',

  async naive(scene) {
    const room = new Room();
    const worker = async (): Promise<void> => {
      const client = scene.client();
      while (!(await client.set('job', 'me', 'PX', LEASE, 'NX'))) await pass(10);
      await room.enter(() => pass(WORK));
    };
    await Promise.all([worker(), worker()]);
    return room.outcome;
  },

  /** Renewed every third of the lease, for as long as the work takes. */
  async holdfast(scene) {
    const room = new Room();
    const worker = () =>
      scene
        .locks({ ttl: LEASE })
        .mutex('job')
        .run(() => room.enter(() => pass(WORK)));
    await Promise.all([worker(), worker()]);
    return room.outcome;
  },
};
