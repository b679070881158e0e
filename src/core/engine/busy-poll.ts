import type { Clock } from '../contract/clock.ts';

/**
 * The longest time for which one call is polled, ms. What polling saves is a sleep and the waking from it, tens of µs; where an answer
 * takes much longer than that, there is nothing to win.
 */
export const POLL_LIMIT = 0.25;
/** The largest number of calls in a row that are not polled for. So polling costs next to nothing with an engine far away. */
const MOST_SPARED = 1_024;

/** Gives the number of calls to skip after this one. The longer polling was in vain, the more rarely it is tried. */
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
  #skips = 0;
  #skipsLeft = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Polls for a call that was sent at `now`, while no other one is under way. */
  begin(now: number): void {
    if (!this.#clock.turn) return;
    if (this.#skipsLeft > 0) {
      this.#skipsLeft--;
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

  /** Learns from an answer. If it came before the loop turned, polling was as useless as for an answer that took too long. */
  noteAnswer(): void {
    if (this.#polling) this.#learn(this.#turns > 0);
  }

  #learn(caught: boolean): void {
    this.#polling = false;
    this.#skips = spareAfter(this.#skips, caught);
    this.#skipsLeft = this.#skips;
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
