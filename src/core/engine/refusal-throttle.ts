import { type Clock, systemClock } from '../contract/clock.ts';

/** The number of refusals in one turn of the event loop after which the next ones wait for its end. */
const MOST = 16;

/**
 * Gives timers and sockets their turn beside a loop of refusals that need no engine. Promises alone would starve them, and with them the
 * release that the loop waits for.
 */
export class RefusalThrottle {
  readonly #turn: NonNullable<Clock['turn']>;
  #since = 0;
  #turning: Promise<void> | undefined;

  constructor(clock: Clock) {
    // A clock of a test may stand still; the event loop does not.
    this.#turn = clock.turn ?? systemClock.turn!;
  }

  /** A refused caller awaits this. It resolves at once if there were few refusals lately. */
  async next(): Promise<void> {
    this.#turning ??= new Promise((resolve) => {
      this.#turn(() => {
        this.#turning = undefined;
        this.#since = 0;
        resolve();
      });
    });
    if (++this.#since > MOST) await this.#turning;
  }

  /** Waits as `next` does, and then throws the error. */
  async refuse(error: unknown): Promise<never> {
    await this.next();
    throw error;
  }
}
