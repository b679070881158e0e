import type { Cancel, Clock } from './clock.ts';

/**
 * Longest time that the timer outlives what it was armed for, and what is due later is looked at once before. What comes and
 * goes, over and over, would else set and clear a timer each time, which costs more than many an answer. ms.
 */
const LINGER = 1_000;

/** One timer, in the background, for whatever is due first of many things. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: (late: number) => void;
  #cancel: Cancel | undefined;
  #ringsAt = Number.POSITIVE_INFINITY;

  /** @param ring looks for what is due, which may be nothing yet, and sets the alarm for the rest; told how late it is, ms */
  constructor(clock: Clock, ring: (late: number) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** It rings at `due`, or before. */
  by(due: number): void {
    if (due >= this.#ringsAt) return;
    this.#cancel?.();
    const now = this.#clock.now();
    this.#ringsAt = Math.min(due, now + LINGER);
    this.#cancel = this.#clock.after(Math.max(0, this.#ringsAt - now), () => this.#rings(), true);
  }

  stop(): void {
    this.#cancel?.();
    this.#ringsAt = Number.POSITIVE_INFINITY;
  }

  #rings(): void {
    const late = this.#clock.now() - this.#ringsAt;
    this.#ringsAt = Number.POSITIVE_INFINITY;
    this.#ring(late);
  }
}
