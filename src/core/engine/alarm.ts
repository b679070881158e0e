import type { Cancel, Clock } from '../contract/clock.ts';

/**
 * Longest time that the timer outlives what it is for; what is due later is come back to. Where things come and go, over and
 * over, setting and clearing a timer for each would cost more than the things. ms.
 */
const LINGER = 1_000;

/** One timer, in the background, for whatever is due first of many things. */
export class Alarm {
  readonly #clock: Clock;
  readonly #needed: () => boolean;
  readonly #ring: (late: number) => void;
  #due = Number.POSITIVE_INFINITY;
  /** When the timer is to fire. */
  #rings = Number.POSITIVE_INFINITY;
  #cancel: Cancel | undefined;

  /**
   * @param needed whether there is still something that it may have been set for
   * @param ring looks for what is due, which may be gone by then, and sets the alarm for the rest; told how late it is, ms
   */
  constructor(clock: Clock, needed: () => boolean, ring: (late: number) => void) {
    this.#clock = clock;
    this.#needed = needed;
    this.#ring = ring;
  }

  /** It is to ring at `due`, or before. */
  by(due: number): void {
    const now = this.#clock.now();
    // A timer that a test made a fake one never fires again once timers are real.
    const missed = now > this.#rings + LINGER;
    if (due >= this.#due && !missed) return;
    this.#due = Math.min(due, this.#due);
    this.#arm(now);
  }

  stop(): void {
    this.#due = Number.POSITIVE_INFINITY;
    this.#rings = Number.POSITIVE_INFINITY;
    this.#cancel?.();
  }

  #arm(now: number): void {
    this.#cancel?.();
    const pause = Math.min(Math.max(0, this.#due - now), LINGER);
    this.#rings = now + pause;
    this.#cancel = this.#clock.after(pause, () => this.#wake(), true);
  }

  #wake(): void {
    const now = this.#clock.now();
    const late = now - this.#due;
    if (late < 0 && this.#needed()) {
      this.#arm(now);
      return;
    }
    this.#due = Number.POSITIVE_INFINITY;
    this.#rings = Number.POSITIVE_INFINITY;
    if (late >= 0) this.#ring(late);
  }
}
