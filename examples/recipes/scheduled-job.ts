import { setTimeout } from 'node:timers/promises';
import type { Locks, TickRun } from '../../src/index.ts';

interface Timer {
  /** ms since 1970. */
  now(): number;
  sleep(ms: number, value: undefined, options: { readonly signal: AbortSignal }): Promise<unknown>;
}

/** ms; the same on every instance. */
const PERIOD = 5 * 60_000;
const system: Timer = { now: Date.now, sleep: setTimeout };

/**
 * Runs the job at every full five minutes, on one of all instances that call this. It resolves when `signal` is aborted and the
 * job has settled. `say` gets the error of the job or of the engine, and a tick that was late here.
 */
export async function everyFiveMinutes(
  locks: Locks,
  job: (run: TickRun) => Promise<void>,
  signal: AbortSignal,
  say: (word: unknown) => void = console.warn,
  { now, sleep }: Timer = system,
): Promise<void> {
  while (!signal.aborted) {
    const tick = (Math.floor(now() / PERIOD) + 1) * PERIOD; // the next multiple of the period, for all the same
    try {
      await sleep(tick - now(), undefined, { signal });
      const result = await locks.once('report', tick, job, { signal });
      if (!result.ran && result.reason === 'late') say(`the tick of ${new Date(tick).toISOString()} was late here`);
    } catch (error) {
      if (!signal.aborted) say(error); // and on to the next tick
    }
  }
}
