import { type Clock, systemClock } from '../contract/clock.ts';

/** The number of refusals in one turn of the event loop after which the next ones wait for its end. */
const MAX_REFUSALS_A_TURN = 16;

/**
 * Gives timers and sockets their turn while a caller asks in a loop, and is refused without a question to the engine. Such a loop, of promises
 * alone, would starve timers and sockets, and with them the release for which the loop waits.
 */
export class RefusalThrottle {
  readonly #turn: NonNullable<Clock['turn']>;
  #since = 0;
  #turning: Promise<void> | undefined;

  constructor(clock: Clock) {
    // A clock of a test may stand still; the event loop does not.
    this.#turn = clock.turn ?? systemClock.turn!;
  }

  /** A refused caller awaits the result, which resolves at once if there were few refusals in this turn. */
  async next(): Promise<void> {
    this.#turning ??= new Promise((resolve) => {
      this.#turn(() => {
        this.#turning = undefined;
        this.#since = 0;
        resolve();
      });
    });
    if (++this.#since > MAX_REFUSALS_A_TURN) await this.#turning;
  }

  /** Waits as `next` does, and then throws the error. */
  async refuse(error: unknown): Promise<never> {
    await this.next();
    throw error;
  }
}

/** The number of releases that may be under way while no caller waits for them. */
const MAX_UNAWAITED = 256;

/** The releases under way that no caller waits for. None of them rejects. */
export class Unawaited {
  #count = 0;

  /** @returns false if there are too many, so that the caller has to wait for this one */
  add(release: Promise<unknown>): boolean {
    if (this.#count >= MAX_UNAWAITED) return false;
    this.#count++;
    const end = (): void => {
      this.#count--;
    };
    release.then(end, end);
    return true;
  }
}
