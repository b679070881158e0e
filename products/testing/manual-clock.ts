import { setImmediate as drained } from 'node:timers/promises';
import type { Cancel, Clock } from '../../src/core/index.ts';
import { randomFrom } from './random.ts';

/** A clock that stands still until you move it. With the same seed, timers always fire in the same order. */
export interface ManualClock extends Clock {
  /**
   * The time of day, from the beginning of 2026 (UTC). It also moves while the machine sleeps.
   * @example console.log(new Date(manualClock().epoch()).getUTCFullYear()); // 2026
   */
  epoch(): number;
  /**
   * Moves the clock by `ms`. Timers that are due fire in order of time. After each timer, promises can settle.
   * @example
   * const clock = manualClock();
   * await clock.advance(1_000);
   * console.log(clock.now()); // 1000
   */
  advance(ms: number): Promise<void>;
  /**
   * Lets the machine sleep for `ms`: no timer fires, and `now` does not move. The next `resync` adds `ms` to it.
   * @example
   * const clock = manualClock();
   * clock.suspend(60_000);
   * console.log(clock.now(), clock.resync()); // 0, 60000
   */
  suspend(ms: number): void;
  /** The number of timers that have not fired yet. */
  readonly pending: number;
}

interface Timer {
  readonly due: number;
  readonly fn: () => void;
}

/** The time of day at the start, ms since 1970. */
const START = Date.UTC(2026, 0, 1);

/**
 * A clock for tests.
 * @param seed seed of the random numbers and ids. Each process of a simulation needs its own.
 * @example
 * const clock = manualClock();
 * const locks = createLocks(memory({ clock }), { clock });
 * const lease = await locks.mutex('order:42').acquire({ renew: false });
 * await clock.advance(30_000);
 * console.log(lease.held); // false
 */
export function manualClock(seed = 1): ManualClock {
  const random = randomFrom(seed);
  const timers = new Set<Timer>();
  let awake = 0;
  let found = 0;
  let asleep = 0;

  const nextDue = (until: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) if (timer.due <= until && (!first || timer.due < first.due)) first = timer;
    return first;
  };

  return {
    now: () => awake + found,
    epoch: () => START + awake + found + asleep,
    resync() {
      found += asleep;
      asleep = 0;
      return awake + found;
    },
    lookAgain() {
      found += asleep;
      asleep = 0;
    },
    after(ms, fn): Cancel {
      // At least 1 ms, as in Node: a timer that arms itself again with 0 ms would stop the time.
      const timer = { due: awake + Math.max(1, ms), fn };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    random,
    id: () => Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join(''),
    async advance(ms) {
      const until = awake + ms;
      await drained();
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        timers.delete(timer);
        awake = Math.max(awake, timer.due);
        timer.fn();
        await drained();
      }
      awake = until;
      await drained();
    },
    suspend(ms) {
      asleep += ms;
    },
    get pending() {
      return timers.size;
    },
  };
}
