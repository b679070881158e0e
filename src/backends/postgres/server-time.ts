import type { Clock } from '../../core/clock.ts';

/** The server's time as far as its replies tell, so that it can refuse what comes late. */
export class ServerTime {
  readonly #clock: Clock;
  /** The server's time less ours, ms; low by at most one way of the newest reply, so that late is never taken for early. */
  #offset: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From a reply that just came, ms since 1970. */
  heard(time: number): void {
    this.#offset = time - this.#clock.now();
  }

  /** ms since 1970 there, `ms` after it was `since` here; null while nothing was heard. */
  in(ms: number, since: number = this.#clock.now()): number | null {
    return this.#offset === undefined || !Number.isFinite(ms) ? null : since + this.#offset + ms;
  }
}
