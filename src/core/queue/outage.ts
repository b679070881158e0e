/** The time for which a waiter asks an engine that does not answer, ms. */
export const TROUBLE = 10_000;
/** All claims share this error: a stack for each would say nothing, and cost more than many attempts. */
export const UNANSWERED = new Error('no request was answered so far');

/**
 * What went wrong since the engine answered last. It outlives the request that met it: the next one in its place waits for the same
 * engine, and has its own ten seconds from when it began.
 */
export class Outage {
  /** The time at which the last answered request was sent, or else the first one that failed. */
  #since: number;
  /** The last error. */
  last: unknown;

  constructor(since: number) {
    this.#since = since;
  }

  /** @param stoodStill the time in which this process stood still, ms: the engine was not asked */
  noteError(error: unknown, stoodStill: number): void {
    this.last = error;
    this.#since += stoodStill;
  }

  /** The time until which a caller that began at `began` waits. */
  limit(began: number): number {
    return Math.max(this.#since, began) + TROUBLE;
  }

  /** Whether the request that was sent at `sent` and failed now exceeds the limit. The first one does not. */
  exceeds(began: number, sent: number, now: number): boolean {
    return now > this.limit(began) && sent > this.#since;
  }
}
