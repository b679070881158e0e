import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant } from '../contestant.ts';

export interface CyclesPlan {
  readonly callers: number;
  /** Each caller its own key, or `keys` for all. */
  readonly own: boolean;
  readonly keys: number;
  /** ms inside the section. */
  readonly work: number;
  readonly ms: number;
  /** Cycles between two looks at the clock: more where a cycle is not much dearer than a look. */
  readonly every: number;
}

export interface Cycles {
  readonly sections: number;
  /** Sections of another caller than the one before in this process: a caller that takes its own key again is no hand-over. */
  readonly handOvers: number;
  readonly ms: number;
  /** Of this process, µs. */
  readonly cpu: number;
  /** Sent to the engine, where the contestant counts them. */
  readonly statements?: number;
  /** Of the caller that was served least. */
  readonly least: number;
  /** Longest wait seen, those included who still wait at the end. ms. */
  readonly longest: number;
  /** Of the time a cycle takes, from asking to having released: one in a hundred took longer. ms. */
  readonly p99: number;
}

/** Who still waited when the time was over. */
let rest: Promise<unknown> = Promise.resolve();
/** Longest time to let them finish; a peer's callers may starve for longer. ms. */
const PATIENCE = 3_000;

/** The callers of the last run have had their turn, so that they do not disturb the next. */
export const drained = (): Promise<unknown> => Promise.race([rest, sleep(PATIENCE)]);

/** Callers that take, work, release, and begin again, for a while. */
export async function cycles(contestant: Contestant, plan: CyclesPlan): Promise<Cycles> {
  const { callers, own, keys, work, every } = plan;
  const served = new Array<number>(callers).fill(0);
  const asking = new Array<number>(callers).fill(Number.POSITIVE_INFINITY);
  const times: number[] = [];
  let longest = 0;
  let handOvers = 0;
  let last = -1;
  const section = contestant.section ?? (work > 0 ? () => sleep(work) : undefined);
  const sent = contestant.statements?.();
  const idle = process.cpuUsage();
  const began = performance.now();
  const until = began + plan.ms;
  const caller = async (_: unknown, me: number): Promise<void> => {
    const take = contestant.lock(own ? `own:${process.pid}:${me}` : `shared:${me % keys}`);
    while (performance.now() < until) {
      const started = performance.now();
      for (let i = 0; i < every; i++) {
        if (section) asking[me] = performance.now();
        const release = await take();
        if (section) {
          longest = Math.max(longest, performance.now() - asking[me]!);
          asking[me] = Number.POSITIVE_INFINITY;
          await section();
        }
        if (last !== me) handOvers++;
        last = me;
        await release();
        served[me]!++;
      }
      times.push((performance.now() - started) / every);
    }
  };
  rest = Promise.all(Array.from({ length: callers }, caller));
  await Promise.race([rest, sleep(plan.ms)]);
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(idle);
  longest = Math.max(longest, ...asking.map((since) => began + ms - since));
  return {
    sections: served.reduce((sum, n) => sum + n),
    handOvers,
    ms,
    cpu: user + system,
    ...(sent === undefined ? {} : { statements: contestant.statements!() - sent }),
    least: Math.min(...served),
    longest,
    p99: times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN,
  };
}
