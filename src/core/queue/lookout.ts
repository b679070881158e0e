import type { Cancel } from '../contract/clock.ts';
import type { Engine } from '../engine/engine.ts';
import { endGone } from './eviction.ts';
import type { Hold } from './hold.ts';

/** The longest time for which a caller waits here behind a hold that nobody renews, before it stands in the engine's queue itself, ms. */
const MAX_TRUST_MS = 2_000;

/**
 * Watches the holds of a key that are not renewed, or not for ever. If such a hold is evicted, no renewal detects the eviction. So a caller that
 * waits behind the hold sends a claim of its own, whose grant can show the eviction. The timer also keeps the process alive while the process only
 * waits for the end of such a hold.
 */
export class Lookout {
  readonly #engine: Engine;
  readonly #waiting: { readonly head: unknown };
  readonly #standApart: () => void;
  readonly #holds = new Set<Hold>();
  #cancel: Cancel | undefined;

  /**
   * @param waiting has as its head the first caller here that does not stand in the engine's queue
   * @param standApart lets that caller stand in the engine's queue, too
   */
  constructor(engine: Engine, waiting: { readonly head: unknown }, standApart: () => void) {
    this.#engine = engine;
    this.#waiting = waiting;
    this.#standApart = standApart;
  }

  begin(hold: Hold): void {
    if (hold.timing.mayExpire) this.#holds.add(hold);
    if (this.#holds.size > 0) this.#noteGrant(hold);
    this.follow();
  }

  remove(hold: Hold): void {
    this.#holds.delete(hold);
  }

  /** Sets the timer if a caller waits behind such a hold. Cancels the timer if no caller waits. */
  follow(): void {
    if (this.#waiting.head === undefined) {
      this.#cancel?.();
      this.#cancel = undefined;
    } else if (this.#holds.size > 0) this.#cancel ??= this.#engine.clock.after(MAX_TRUST_MS, this.#look);
  }

  readonly #look = (): void => {
    this.#cancel = undefined;
    const now = this.#engine.clock.now();
    if ([...this.#holds].some(({ timing }) => !timing.renews(now))) this.#standApart();
    this.follow();
  };

  /** Ends the holds here that leave no room for this one: the engine has granted this one, so the others are gone there. */
  #noteGrant(hold: Hold): void {
    const { claim } = hold;
    for (const other of this.#holds) {
      if (other.claim === claim) continue;
      if (other.claim.units + claim.units <= Math.min(other.claim.capacity, claim.capacity)) continue;
      // Answers may overtake each other. The token of an exclusive hold tells which one the engine granted last.
      const isLate = hold.exclusive && other.exclusive && hold.token < other.token;
      void endGone(isLate ? hold : other, 'the engine no longer has it');
    }
  }
}
