import { setTimeout as pass } from 'node:timers/promises';
import { Room, type Trap } from './scene.ts';

export const checkThenSet: Trap = {
  title: 'Check, then set: between the two steps another does the same',

  async naive(scene) {
    const room = new Room();
    const clients = [scene.client(), scene.client(), scene.client()];
    await Promise.all(clients.map((client) => client.ping())); // so that none comes late
    const worker = async (client: (typeof clients)[number]): Promise<void> => {
      while ((await client.get('job')) !== null) await pass(5);
      await client.set('job', 'me', 'PX', 10_000);
      await room.enter(() => pass(20));
      await client.del('job');
    };
    await Promise.all(clients.map(worker));
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
