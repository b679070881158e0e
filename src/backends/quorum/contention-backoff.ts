import type { Clock } from '../../core/contract/clock.ts';

/** Keys remembered. */
const KEPT = 1_000;
/** How long a rival is expected to come again. ms. */
const MEMORY = 10_000;
/** How often a waiter asks, ms: at first, and after it has waited for long; less or more by half, at random. */
const SOONEST = 4;
const LATEST = 250;
/** The part of the time it has waited after which it asks again. Who is next does it alone; who lets it go first only looks. */
const PACE = { next: 0.025, behind: 0.05, drawing: 0.1 };
/** How long a key is left to the others after it was given back, ms: no shorter than the first pauses of one who asks. */
const YIELD = 6;

interface Meeting {
  /** When somebody else was last seen to have the key, or a part of it. */
  met: number;
  /** Since when this process has been refused. */
  since: number | undefined;
  /** Until when the key is left to others. */
  leave: number;
}

/**
 * Manners where nobody is woken. Who waits asks at random times, more often at first, so that rivals who split the votes
 * part. Who has had the key and gives it back leaves it alone for a moment, if somebody else is known to want it: otherwise
 * the next caller in this process would always be there first, and other processes would starve.
 */
export class ContentionBackoff {
  readonly #clock: Clock;
  readonly #meetings = new Map<string, Meeting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** ms to wait before the key is asked for. */
  courtesy(key: string): number {
    const meeting = this.#meetings.get(key);
    return meeting ? Math.max(0, meeting.leave - this.#clock.now()) : 0;
  }

  /**
   * @param how whether the others let this process go first, or it lets one of them
   * @returns ms after which to ask again
   */
  refused(key: string, how: keyof typeof PACE = 'drawing'): number {
    const now = this.#clock.now();
    const known = this.#meetings.get(key);
    const since = known?.since !== undefined && now - known.met < MEMORY ? known.since : now;
    this.#meetings.delete(key);
    this.#meetings.set(key, { met: now, since, leave: known?.leave ?? 0 });
    const [oldest] = this.#meetings.size > KEPT ? this.#meetings.keys() : [];
    if (oldest !== undefined) this.#meetings.delete(oldest);
    const pause = Math.min(LATEST, Math.max(SOONEST, (now - since) * PACE[how]));
    return pause * (0.5 + this.#clock.random());
  }

  /** @param shared whether a rival had some of the votes */
  granted(key: string, shared: boolean): void {
    const meeting = this.#meetings.get(key);
    if (shared && !meeting) this.refused(key);
    else if (meeting) {
      meeting.since = undefined;
      if (shared) meeting.met = this.#clock.now();
    }
  }

  released(key: string): void {
    const meeting = this.#meetings.get(key);
    if (!meeting) return;
    const now = this.#clock.now();
    if (now - meeting.met < MEMORY) meeting.leave = now + YIELD * (1 + this.#clock.random() / 2);
    else this.#meetings.delete(key);
  }
}
