import type { Clock } from '../../core/clock.ts';
import type { Row } from './client.ts';

/** The server's time as far as its replies tell, so that it can refuse what comes late. */
export class ServerTime {
  readonly #clock: Clock;
  /** The server's time less ours, ms; low by at most one way of the newest reply, so that late is never taken for early. */
  #offset: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes `server_time` from a reply that has it. */
  heard(rows: Row[]): Row[] {
    const time = rows[0]?.server_time;
    if (time !== undefined && time !== null) this.#offset = Number(time) - this.#clock.now();
    return rows;
  }

  /** ms since 1970 there, `ms` from now; null while nothing was heard. */
  in(ms: number): number | null {
    return this.#offset === undefined || !Number.isFinite(ms) ? null : this.#clock.now() + this.#offset + ms;
  }
}
