import type { Clock } from '../../core/index.ts';

/**
 * An estimate of a server's clock by its answers, so that the server can refuse what comes too late. The server notes its `time` after we sent the
 * request and before we received the answer. So its clock is ahead of ours by `time - received` to `time - sent` (Cristian 1989). The lower
 * bound is kept: a limit computed from it is too early by a round trip at worst, never too late.
 */
export class ServerClock {
  readonly #clock: Clock;
  /** The least number of ms by which the server's clock is ahead of ours. */
  #ahead: number | undefined;
  #learned = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Learns from an answer that just came.
   * @param time the server's time, ms since 1970
   * @param sent when the request was sent, by our clock; if unknown, this answer replaces the estimate
   */
  learn(time: number, sent?: number): void {
    const received = this.#clock.now();
    const least = time - received;
    const most = time - (sent ?? received);
    // If the estimate is above the upper bound, one of the clocks was set, or has drifted.
    if (this.#ahead === undefined || least > this.#ahead || most < this.#ahead) this.#ahead = least;
    this.#learned = received;
  }

  get known(): boolean {
    return this.#ahead !== undefined;
  }

  /** The time since the last answer, ms. */
  get age(): number {
    return this.#clock.now() - this.#learned;
  }

  /** Gives what the server's clock shows, unless the last answer came longer than `ms` ago. */
  lately(ms: number): number | undefined {
    return this.age > ms ? undefined : this.in(0);
  }

  /** Gives what the server's clock shows, ms since 1970, `ms` after our clock shows `since`; undefined while the server's clock is not known. */
  in(ms: number, since: number = this.#clock.now()): number | undefined {
    return this.#ahead === undefined ? undefined : since + ms + this.#ahead;
  }
}

/** The clocks of the servers that have our keys: each server has its own. */
export class ServerClocks {
  readonly #clock: Clock;
  readonly #nodeOf: ((key: string) => string) | undefined;
  readonly #only: ServerClock;
  readonly #byNode = new Map<string, ServerClock>();

  /** @param nodeOf names the server that has a key now; undefined if there is only one server */
  constructor(clock: Clock, nodeOf: ((key: string) => string) | undefined) {
    this.#clock = clock;
    this.#nodeOf = nodeOf;
    this.#only = new ServerClock(clock);
  }

  of(key: string): ServerClock {
    if (!this.#nodeOf) return this.#only;
    const node = this.#nodeOf(key);
    let clock = this.#byNode.get(node);
    if (!clock) {
      clock = new ServerClock(this.#clock);
      this.#byNode.set(node, clock);
    }
    return clock;
  }
}
