/** How long a waiter asks an engine that does not answer, ms. */
const TROUBLE = 10_000;
/** One error for all: a stack of its own would say nothing, and cost more than many attempts. */
const UNANSWERED = new Error('no request was answered so far');

/**
 * What went wrong since the engine answered last. It outlives the request that met it: the next one in its place waits for the same
 * engine, and has its own ten seconds from when it began.
 */
export class Outage {
  readonly #opened: number;
  /** The last error since the last answer. Before the first answer: that there was none. */
  #last: unknown = UNANSWERED;
  /** When the last answered request was sent, or else the very first one. */
  #since: number | undefined;

  constructor(now: number) {
    this.#opened = now;
  }

  get last(): unknown {
    return this.#last;
  }

  asked(sent: number): void {
    this.#since ??= sent;
  }

  answered(sent: number): void {
    this.#since = sent;
    this.#last = undefined;
  }

  failed(error: unknown): void {
    this.#last = error;
  }

  /** The last error. That there was no answer so far does not count if the first request was sent only after `moment`. */
  by(moment: number): unknown {
    return this.#last === UNANSWERED && this.#opened > moment ? undefined : this.#last;
  }

  /** Until when a caller that began at `began` waits; Infinity while nothing is wrong. */
  limit(began: number): number {
    return this.#last === undefined ? Number.POSITIVE_INFINITY : Math.max(this.#since ?? began, began) + TROUBLE;
  }

  /** Whether the request that was sent at `sent` and failed now exceeds the limit. The first one does not: this process may have stood still. */
  exceeds(began: number, sent: number, now: number): boolean {
    return now > this.limit(began) && sent > (this.#since ?? sent);
  }
}
