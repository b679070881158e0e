/** How long a waiter outlives an engine that does not answer, ms. */
const TROUBLE = 10_000;
/** One for all: the stack of each would tell nothing, and cost more than many an attempt. */
const UNANSWERED = new Error('no request was answered so far');

/**
 * What went wrong since the engine answered last. It outlives the place that met it: whoever stands there next waits for the
 * same engine, and has its own ten seconds, counted from when it came.
 */
export class Outage {
  readonly #opened: number;
  /** What went wrong last, while nothing has gone right since. Until something is answered, that nothing was. */
  #last: unknown = UNANSWERED;
  /** When the last request was sent that was answered, or the very first. */
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

  /** The last one. That nothing was answered so far does not count where it was asked after `moment` only. */
  by(moment: number): unknown {
    return this.#last === UNANSWERED && this.#opened > moment ? undefined : this.#last;
  }

  /** From when on whoever came at `began` waits no longer; Infinity while nothing is wrong. */
  limit(began: number): number {
    return this.#last === undefined ? Number.POSITIVE_INFINITY : Math.max(this.#since ?? began, began) + TROUBLE;
  }

  /** Whether it came to that by a request of this time, which failed now: not by the first one, since this process may have stood still. */
  exceeds(began: number, sent: number, now: number): boolean {
    return now > this.limit(began) && sent > (this.#since ?? sent);
  }
}
