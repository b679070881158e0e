/** How long a waiter asks an engine that does not answer, ms. */
export const TROUBLE = 10_000;
/** All claims share this error: a stack for each would say nothing, and cost more than many attempts. */
export const UNANSWERED = new Error('no request was answered so far');

/** The most by which a timer of a process that runs is late, ms. */
const LATE = 50;

/** Gives how long the process surely stood still while something `took` ms that takes no longer than `longest`, ms. */
const standstill = (took: number, longest: number): number => Math.max(0, took - longest - LATE);

/**
 * What went wrong since the engine answered last. It outlives the request that met it: the next one in its place waits for the same
 * engine, and has its own ten seconds from when it began.
 */
export class Outage {
  /** The time at which the last answered request was sent, or else the first one that failed. */
  #since: number;
  /** The last error. */
  last: unknown;

  constructor(since: number, error: unknown) {
    this.#since = since;
    this.last = error;
  }

  /** Leaves out a time in which this process stood still: the engine was not asked. */
  leaveOut(ms: number): void {
    this.#since += ms;
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

/** What a claim knows of its engine: when that answered last, and what is wrong since then. */
export class Contact {
  outage: Outage | undefined;
  /** The time at which the last answered request was sent. */
  answered: number | undefined;
  /** The time at which the last request was answered or failed. */
  #ended: number | undefined;

  /** @param outage the outage that the claim before it met */
  constructor(outage: Outage | undefined) {
    this.outage = outage;
  }

  noteAnswer(sent: number, now: number): void {
    this.answered = sent;
    this.#ended = now;
    this.outage = undefined;
  }

  /**
   * @param pause the longest pause before a request, ms
   * @param within the longest time for which a request goes on, ms
   */
  noteFailure(error: unknown, sent: number, now: number, pause: number, within: number): Outage {
    this.outage ??= new Outage(this.answered ?? sent, error);
    this.outage.last = error;
    this.outage.leaveOut(standstill(sent - (this.#ended ?? sent), pause) + standstill(now - sent, within));
    this.#ended = now;
    return this.outage;
  }
}
