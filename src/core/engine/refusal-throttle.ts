import { type Clock, systemClock } from '../contract/clock.ts';

/** Refusals since the event loop last turned, after which the next ones wait until it does. */
const MOST = 16;

/**
 * Lets timers and sockets have their turn beside a loop of refusals that need no engine: promises alone would starve them,
 * and with them the release that the loop waits for.
 */
export class RefusalThrottle {
  readonly #turn: NonNullable<Clock['turn']>;
  #since = 0;
  #turning: Promise<void> | undefined;

  constructor(clock: Clock) {
    // A clock of a test may stand still; the event loop does not.
    this.#turn = clock.turn ?? systemClock.turn!;
  }

  /** To be awaited by who is refused; settled at once where few were refused lately. */
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

  /** @throws error after that */
  async refuse(error: unknown): Promise<never> {
    await this.next();
    throw error;
  }
}
