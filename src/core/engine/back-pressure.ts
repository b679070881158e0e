import { type Clock, systemClock } from '../contract/clock.ts';

/** After this many refusals in one turn of the event loop, each further refusal waits for the end of the turn. */
const MAX_REFUSALS_A_TURN = 16;

/** Slows callers that ask in a loop and are refused at once: promises alone starve timers and sockets, and so the release that the loop waits for. */
export class RefusalThrottle {
  readonly #turn: NonNullable<Clock['turn']>;
  #since = 0;
  #turning: Promise<void> | undefined;

  constructor(clock: Clock) {
    // The clock of a test may have no `turn`, and may stand still; the event loop does not.
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

  /** @returns false if there are too many, so that the caller has to wait for this release */
  add(release: Promise<unknown>): boolean {
    if (this.#count >= MAX_UNAWAITED) return false;
    this.#count++;
    const end = (): void => void this.#count--;
    release.then(end, end);
    return true;
  }
}
