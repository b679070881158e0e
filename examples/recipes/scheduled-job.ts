import type { Locks } from '../../src/index.ts';

/** ms */
const PERIOD = 5 * 60_000;
/** A timer may fire that much early. */
const EARLY = 1_000;

/** Called by the timer of every instance, at about the same time; one of them runs the job. Whether it was this one. */
export async function onTick(locks: Locks, now: number, job: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
  const tick = Math.floor((now + EARLY) / PERIOD) * PERIOD;
  const { ran } = await locks.once('report', tick, (run) => job(run.signal));
  return ran;
}
