import assert from 'node:assert/strict';
import { type Law, law } from '../law.ts';
import { longestWait, type Served } from '../served.ts';

const CALLERS = 5;
/** Several times as long as anybody may wait, ms. */
const LASTS = 1_500;

/** Every caller is served, however busy others are: in turn where the engine keeps a line, and soon where it does not. */
export const starvation: readonly Law[] = [busy(2), busy(4)];

function busy(clients: number): Law {
  return law(`nobody starves among ${clients} clients that ask without pause`, ['turns'], async (scene) => {
    const all = await Promise.all(Array.from({ length: clients }, () => scene.locks({ spin: {} })));
    for (const locks of all) await locks.mutex(scene.key).run(() => {}); // a client that still connects is no waiter yet
    const served: Served[] = [];
    const from = scene.clock.now();
    const to = from + LASTS;
    const calls = all.flatMap((locks, client) =>
      Array.from({ length: CALLERS }, async () => {
        while (scene.clock.now() < to) {
          const lease = await locks.mutex(scene.key).acquire();
          const begin = scene.clock.now();
          await scene.pass(1);
          served.push({ client, begin, end: scene.clock.now() });
          await lease.release();
        }
      }),
    );
    await Promise.all(calls);
    const { client, waited, bound } = longestWait(served, clients, from, to);
    // Twice: on a busy machine the client that waits is late itself, as well as the one that is served. A client that starves waits to the end.
    const most = bound + 2 * scene.tolerance;
    assert.ok(
      waited <= most,
      `client ${client + 1} waited ${Math.round(waited)} ms while others were served; ${Math.round(most)} ms is the most`,
    );
    await scene.isFree();
  });
}
