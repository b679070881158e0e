import type { Clock } from '../../core/contract/clock.ts';

/** A moment on the clock of all threads: ms from an origin, modulo 2³². Two of them are less than 24 days apart. */
export type Moment = number;

/** ms from `a` to `b`. */
export const between = (a: Moment, b: Moment): number => (b - a) | 0;

/** The clock that the threads of a process share. On Linux it stands still while the machine is suspended. */
export class SharedTime {
  readonly #origin: bigint;

  constructor(origin: bigint) {
    this.#origin = origin;
  }

  now(): Moment {
    return Number((process.hrtime.bigint() - this.#origin) / 1_000_000n) | 0;
  }
}

/** A clock that is ahead by so much more than at the last look has noticed a suspension; less is rounding. ms. */
const SUSPENSION = 100;
/** For how long a suspension matters: no lease that is renewed from another thread is longer. ms. */
const PAST = 12 * 86_400_000;

/**
 * Tells what a shared moment is by a clock of this thread. That clock also counts the time for which the machine was suspended, as
 * soon as it notices; a moment before that is taken to be before the suspension, so a lease only ends sooner.
 */
export class Conversion {
  readonly #clock: Clock;
  readonly #time: SharedTime;
  #ahead: number;
  /** ms of all suspensions, and when each was noticed. The latest is the last. */
  #suspensions: { readonly from: Moment; readonly slept: number }[] = [];

  constructor(clock: Clock, time: SharedTime) {
    this.#clock = clock;
    this.#time = time;
    this.#ahead = clock.now() - time.now();
  }

  momentOf(time: number): Moment {
    const { moment, now } = this.look();
    return Math.floor(moment + time - now) | 0;
  }

  /** By the clock; 1 ms early, beside suspensions. */
  timeOf(then: Moment): number {
    const { moment, now } = this.look();
    const since = this.#suspensions.filter(({ from }) => between(from, then) < 0);
    const slept = since.reduce((sum, each) => sum + each.slept, 0);
    return now - between(then, moment) - slept - 1;
  }

  /** To be called more often than every 24 days: the shared clock starts again after 49. */
  look(): { moment: Moment; now: number } {
    const moment = this.#time.now();
    const now = this.#clock.now();
    const slept = Math.round(now - moment - this.#ahead) | 0;
    this.#ahead = now - moment;
    if (this.#suspensions.length > 0)
      this.#suspensions = this.#suspensions.filter(({ from }) => between(from, moment) < PAST);
    if (slept > SUSPENSION) this.#suspensions.push({ from: moment, slept });
    return { moment, now };
  }
}
