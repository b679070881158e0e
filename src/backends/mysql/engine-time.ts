import type { Clock } from '../../core/clock.ts';
import { MICRO } from './place.ts';

/** Longer than this without a look at the server's clock, and it is looked at again. ms. */
const STALE = 300_000;

/**
 * What time it is at the server, at least: from its last answer, and the time gone by here since. Never later than the
 * truth, so that a limit reckoned from it never lets a late message through.
 */
export class EngineTime {
  readonly #clock: Clock;
  #base = 0;
  #learned = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The server read `now` µs before its answer, which just came. */
  learn(now: number): void {
    this.#learned = this.#clock.now();
    this.#base = now - this.#learned * MICRO;
  }

  get stale(): boolean {
    return this.#clock.now() - this.#learned > STALE;
  }

  /** The server's time, µs, after which a message sent now is too late. */
  limit(within: number): string {
    return `${Math.floor(this.#base + (this.#clock.now() + within) * MICRO)}`;
  }
}
