/**
 * The engine's clock as replies tell it, for the not-after of an attempt. A reply says that the engine's clock showed `time`
 * at some moment between sending and receiving, so it is ahead of ours by `time - received` to `time - sent` (Cristian 1989).
 * The lower bound is kept: a not-after made of it is too early by a round trip at worst, never too late.
 */
export class EngineTime {
  /** µs */
  #ahead: number | undefined;

  /** @param sent ms, as `received`; `time` in µs */
  learn(time: number, sent: number, received: number): void {
    const least = time - received * 1_000;
    const most = time - sent * 1_000;
    // Beyond the upper bound: one of the clocks was set, or drifted.
    if (this.#ahead === undefined || least > this.#ahead || most < this.#ahead) this.#ahead = least;
  }

  get known(): boolean {
    return this.#ahead !== undefined;
  }

  /** The engine's µs `ms` from now; 0, which is always too late, while nothing is known. */
  after(ms: number, now: number): number {
    return this.#ahead === undefined ? 0 : Math.floor((now + ms) * 1_000 + this.#ahead);
  }
}
