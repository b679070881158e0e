import type { Contestant } from '../contestant.ts';
import { type CyclesPlan, cycles } from './cycles.ts';

/** Sections of all callers together while it counts: what they leave has to fit into the room for new objects. */
const SECTIONS = 4_000;
const WARM_UP = 1_500;

/** Bytes that a section leaves on the heap, most of which are garbage. For a process with room for all of it. */
export async function garbage(contestant: Contestant, plan: CyclesPlan): Promise<number> {
  await cycles(contestant, { ...plan, ms: WARM_UP });
  const takes = Array.from({ length: plan.callers }, (_, me) => contestant.lock(`garbage:${process.pid}:${me}`));
  const turns = Math.ceil(SECTIONS / plan.callers);
  globalThis.gc!();
  const before = process.memoryUsage().heapUsed;
  await Promise.all(
    takes.map(async (take) => {
      for (let i = 0; i < turns; i++) await (await take())();
    }),
  );
  return (process.memoryUsage().heapUsed - before) / (turns * plan.callers);
}
