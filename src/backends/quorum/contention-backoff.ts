import { type Clock, RecentKeys } from '../../core/index.ts';

/** How long a rival counts as present after it was last noticed, ms. */
const RIVAL_KNOWN_MS = 10_000;
/** The shortest and the longest pause between two attempts of a waiter, ms. The pause taken is up to half longer or shorter, at random. */
const MIN_PAUSE_MS = 4;
const MAX_PAUSE_MS = 500;
/** The pause of a waiter, as a share of its wait so far. Only the next holder asks often; a waiter behind it only reads the hint. */
const PACE = { next: 0.025, behind: 0.05, unknown: 0.1 };
/** How long a process does not ask for a key after it released the key, ms. The first pauses of a waiter are at most as long, so a waiter asks first. */
const YIELD_MS = 6;

interface Contention {
  rivalSeenAt: number;
  /** The time since which this process has been refused; undefined if it was granted since. */
  since: number | undefined;
  /** The time until which this process does not ask for the key. */
  leftUntil: number;
}

/**
 * Spreads the attempts of rivals, since a quorum wakes no waiter. A waiter asks at random times, more often at first, so that
 * rivals that split the votes do not collide again. After a release this process does not ask for the key for a moment, if a rival
 * wants it: otherwise the next caller in this process would always be first, and the other processes would starve.
 */
export class ContentionBackoff {
  readonly #clock: Clock;
  readonly #contentions = new RecentKeys<Contention>(undefined, (each) => this.#isPresent(each));

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Gives the time to wait before the key is asked for, ms. */
  pauseBefore(key: string): number {
    const contention = this.#contentions.get(key);
    return contention ? Math.max(0, contention.leftUntil - this.#clock.now()) : 0;
  }

  noteRefusal(key: string): void {
    const now = this.#clock.now();
    const known = this.#contentions.get(key);
    const since = (known && this.#isPresent(known) ? known.since : undefined) ?? now;
    this.#contentions.set(key, { rivalSeenAt: now, since, leftUntil: known?.leftUntil ?? 0 });
  }

  /**
   * Gives the time to wait after a refusal, ms.
   * @param how whether this process is the next holder, behind the next holder, or does not know
   */
  pauseAfter(key: string, how: keyof typeof PACE): number {
    const now = this.#clock.now();
    const waited = now - (this.#contentions.get(key)?.since ?? now);
    const pause = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, waited * PACE[how]));
    return pause * (0.5 + this.#clock.random());
  }

  /** @param shared true if a rival had some of the votes */
  noteGrant(key: string, shared: boolean): void {
    const contention = this.#contentions.get(key);
    if (contention) contention.since = undefined;
    const rivalSeenAt = this.#clock.now();
    if (shared) this.#contentions.set(key, { leftUntil: 0, ...contention, since: undefined, rivalSeenAt });
  }

  noteRelease(key: string): void {
    const contention = this.#contentions.get(key);
    if (!contention) return;
    if (this.#isPresent(contention))
      contention.leftUntil = this.#clock.now() + YIELD_MS * (1 + this.#clock.random() / 2);
    else this.#contentions.delete(key);
  }

  #isPresent({ rivalSeenAt }: Contention): boolean {
    return this.#clock.now() - rivalSeenAt < RIVAL_KNOWN_MS;
  }
}
