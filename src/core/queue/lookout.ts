import type { Cancel } from '../contract/clock.ts';
import type { Engine } from '../engine/engine.ts';
import { endGone, type Hold } from './hold.ts';

/** The longest time for which a caller waits here behind a hold that nobody renews, before it stands in the engine's line itself, ms. */
const LONGEST_TRUST = 2_000;

/** The part of a local line that its lookout needs. */
export interface LocalWaiters {
  /** Whether a caller waits here, and not in the engine's line. */
  readonly waitedFor: boolean;
  /** Lets the first caller that waits here stand in the engine's line, too, unless another one already does. */
  standApart(): void;
}

/**
 * Looks after the holds of a key that are not renewed, or not for ever. No answer tells this process when the engine has taken one of them
 * back, as at a forced release: a claim of a caller that waits behind it finds out. The timer also keeps a process alive that waits for
 * nothing but the end of such a hold.
 */
export class Lookout {
  readonly #engine: Engine;
  readonly #waiters: LocalWaiters;
  readonly #holds = new Set<Hold>();
  #cancel: Cancel | undefined;

  constructor(engine: Engine, waiters: LocalWaiters) {
    this.#engine = engine;
    this.#waiters = waiters;
  }

  /** Looks after a hold from now on, if that may end without a renewal. */
  add(hold: Hold): void {
    if (!hold.terms.renew || hold.terms.maxHold < Number.POSITIVE_INFINITY) this.#holds.add(hold);
    this.follow();
  }

  remove(hold: Hold): void {
    this.#holds.delete(hold);
  }

  /** Sets the timer when somebody waits behind such a hold, and ends it when nobody does. */
  follow(): void {
    const { waitedFor } = this.#waiters;
    if (!this.#cancel && waitedFor && this.#holds.size > 0) {
      this.#cancel = this.#engine.clock.after(LONGEST_TRUST, this.#look);
    } else if (this.#cancel && !waitedFor) {
      this.#cancel();
      this.#cancel = undefined;
    }
  }

  readonly #look = (): void => {
    this.#cancel = undefined;
    const now = this.#engine.clock.now();
    for (const { timing } of this.#holds) {
      if (timing.renews(now)) continue;
      this.#waiters.standApart();
      break;
    }
    this.follow();
  };

  /** Ends the holds beside which the engine would not have granted this one: it no longer has them. */
  noteGrant({ claim }: Hold): void {
    for (const old of this.#holds) {
      const fits = old.claim.units + claim.units <= Math.min(old.claim.capacity, claim.capacity);
      if (old.claim !== claim && !fits) void endGone(old, 'the engine no longer has it');
    }
  }
}
