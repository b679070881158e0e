import type { Clock } from '../contract/clock.ts';

/**
 * The longest time for which one call is polled, ms. What polling saves is a sleep and the waking from it, tens of µs; where an answer
 * takes much longer than that, there is nothing to win.
 */
export const POLL_LIMIT = 0.25;
/** Most calls in a row that are not polled for, so that an engine far away costs next to nothing. */
const MOST_SPARED = 1_024;

/** The number of calls to skip after this one: the longer polling was in vain, the rarer it is tried. */
export const spareAfter = (spared: number, caught: boolean): number =>
  caught ? 0 : Math.min(MOST_SPARED, spared * 2 || 1);

/**
 * Keeps the event loop turning instead of letting the process fall asleep while one call is under way alone: to an engine
 * nearby, falling asleep and being woken takes about as long as the answer. Spinning for as long as a sleep would cost, and then
 * sleeping, costs at most twice what the best choice would have (Karlin, Li, Manasse, Owicki: Empirical Studies of Competitive
 * Spinning for a Shared-Memory Multiprocessor, SOSP 1991); and Linux does it for sockets as `SO_BUSY_POLL`.
 * Where several calls are under way there is work enough to stay awake.
 */
export class BusyPoll {
  readonly #clock: Clock;
  #until = 0;
  #polling = false;
  /** Whether a turn was asked for that has not come yet. */
  #turning = false;
  #turns = 0;
  #spared = 0;
  #sparing = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A call was sent at `now`, and no other one is under way. */
  begin(now: number): void {
    if (!this.#clock.turn) return;
    if (this.#sparing > 0) {
      this.#sparing--;
      return;
    }
    this.#until = now + POLL_LIMIT;
    this.#turns = 0;
    this.#polling = true;
    if (!this.#turning) this.#next();
  }

  /** Counts one more call that is under way. */
  stop(): void {
    this.#polling = false;
  }

  /** The call was answered. If that was before the loop turned, polling was as vain as for an answer that took too long. */
  noteAnswer(): void {
    if (this.#polling) this.#learn(this.#turns > 0);
  }

  #learn(caught: boolean): void {
    this.#polling = false;
    this.#spared = spareAfter(this.#spared, caught);
    this.#sparing = this.#spared;
  }

  #next(): void {
    this.#turning = true;
    this.#clock.turn!(this.#turn);
  }

  readonly #turn = (): void => {
    this.#turning = false;
    if (!this.#polling) return;
    this.#turns++;
    if (this.#clock.now() < this.#until) this.#next();
    else this.#learn(false);
  };
}
