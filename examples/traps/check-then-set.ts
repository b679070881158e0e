import { setTimeout as pass } from 'node:timers/promises';
import { Room, type Trap } from './scene.ts';

export const checkThenSet: Trap = {
  title: 'Check, then set: between the two steps another does the same',

  async naive(scene) {
    const room = new Room();
    const worker = async (): Promise<void> => {
      const client = scene.client();
      while ((await client.get('job')) !== null) await pass(5);
      await client.set('job', 'me', 'PX', 10_000);
      await room.enter(() => pass(20));
      await client.del('job');
    };
    await Promise.all([worker(), worker(), worker()]);
    return room.outcome;
  },

  async holdfast(scene) {
    const room = new Room();
    const worker = () =>
      scene
        .locks()
        .mutex('job')
        .run(() => room.enter(() => pass(20)));
    await Promise.all([worker(), worker(), worker()]);
    return room.outcome;
  },
};
