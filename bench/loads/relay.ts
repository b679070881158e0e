import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant } from '../contestant.ts';

/** When a holder got the key and when it began to give it back, ms of the machine's monotonic clock. */
export interface Leg {
  readonly took: number;
  readonly released: number;
}

/** ms, comparable between the processes of a machine. */
export const machineTime = (): number => Number(process.hrtime.bigint()) / 1e6;

/**
 * Holds for `hold` ms, long enough for the other process to stand in line and rest, and goes to the back of the line `pause` ms
 * after it has released.
 */
export async function relay(contestant: Contestant, legs: number, hold: number, pause: number): Promise<Leg[]> {
  const take = contestant.lock('relay');
  const done: Leg[] = [];
  for (let i = 0; i < legs; i++) {
    const release = await take();
    const took = machineTime();
    await sleep(hold);
    const released = machineTime();
    await release();
    done.push({ took, released });
    if (pause > 0) await sleep(pause);
  }
  return done;
}

/** From each release to the next holder, where that is another process. ms. */
export function handOvers(runs: readonly (readonly Leg[])[]): number[] {
  const legs = runs.flatMap((run, seat) => run.map((leg) => ({ ...leg, seat }))).sort((a, b) => a.took - b.took);
  return legs.flatMap(({ took, seat }, i) => {
    const before = legs[i - 1];
    return before && before.seat !== seat ? [took - before.released] : [];
  });
}
