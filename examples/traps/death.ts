import { isLockError } from '../../src/index.ts';
import type { Outcome, Scene, Trap } from './scene.ts';

async function forEver(scene: Scene, way: 'set-then-expire' | 'set'): Promise<Outcome> {
  await scene.dies(way);
  const left = await scene.client().pttl('job');
  return { right: left !== -1, seen: `its owner is dead, and the lock ${left === -1 ? 'stays for ever' : 'expires'}` };
}

async function expires(scene: Scene): Promise<Outcome> {
  await scene.dies('holdfast');
  const began = performance.now();
  try {
    await using _ = await scene.locks().mutex('job').acquire({ wait: '10s' });
    return {
      right: true,
      seen: `its owner is dead, and ${Math.round(performance.now() - began)} ms later the next one has it`,
    };
  } catch (error) {
    if (!isLockError(error)) throw error;
    return { right: false, seen: error.message };
  }
}

export const setThenExpire: Trap = {
  title: 'Set, then expire: killed in between, the lock never ends',
  naive: (scene) => forEver(scene, 'set-then-expire'),
  holdfast: expires,
};

export const crash: Trap = {
  title: 'A lock without an end: its owner crashes, and everyone waits for ever',
  naive: (scene) => forEver(scene, 'set'),
  holdfast: expires,
};
