import { backOff, type Engine, isLockError } from '../core/index.ts';
import type { OncePlan } from './options.ts';
import { timeLeft } from './window.ts';

/** Pauses before the next question to an engine that did not answer. ms. */
const PAUSE = { pause: 100, jitter: 0.5, bound: 2_000 };

/**
 * Asks again after no answer, or after the loss of a lease, while the tick is young and `mayAgain` says so.
 * @param ask gets how many tries there were before
 * @throws what the last try threw
 */
export async function insist<T>(
  engine: Engine,
  { window, signal }: OncePlan,
  ask: (tries: number) => Promise<T>,
  mayAgain: () => boolean,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask(tries);
    } catch (error) {
      const passes = isLockError(error, 'LOCK_UNAVAILABLE') || isLockError(error, 'LOCK_LOST');
      if (!passes || timeLeft(window, engine.clock.epoch()) === 0 || !mayAgain()) throw error;
    }
    await engine.activity.pause(backOff(PAUSE, tries, engine.clock.random()), false, signal);
  }
}
