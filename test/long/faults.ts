import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance, Stand } from '../leading/instance.ts';
import { TTL } from '../leading/sites.ts';

/** From 0 to 1. */
export type Random = () => number;

const between = (random: Random, from: number, to: number): number => from + random() * (to - from);

/** What happens to the link of an instance, or to its term. It ends well again. */
export const AT_A_STAND: Readonly<Record<string, (stand: Stand, random: Random) => Promise<void>>> = {
  reset: (stand) => stand.reconnect(),
  async 'cut off'(stand, random) {
    stand.cutOff();
    await sleep(between(random, 300, TTL * 2));
    await stand.reconnect();
  },
  async deaf(stand, random) {
    stand.deaf();
    await sleep(between(random, 300, TTL * 1.5));
    await stand.reconnect();
  },
  async resign(stand) {
    await stand.resign('long');
  },
};

/** What happens to a process. True: it has ended, and another one is to take its place. */
export const AT_A_PROCESS: Readonly<Record<string, (instance: Instance, random: Random) => Promise<boolean>>> = {
  async 'kill −9'({ worker }) {
    await worker.kill();
    return true;
  },
  async SIGTERM({ worker }) {
    await worker.end('SIGTERM');
    return true;
  },
  async 'pause beyond the lease'({ worker }, random) {
    worker.pause();
    await sleep(between(random, TTL * 1.2, TTL * 2));
    worker.resume();
    return false;
  },
  async 'short pause'({ worker }, random) {
    worker.pause();
    await sleep(between(random, 100, TTL / 2));
    worker.resume();
    return false;
  },
};

export const picked = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
