import { leastOf } from '../../core/contract/extremes.ts';
/**
 * The renewals of one claim that its node has not answered. Each may still be on its way, be overtaken by a later one, and set
 * the claim to lapse by its own, shorter lease: until it is answered the node is good for no longer.
 */
export class Unanswered {
  /** Leases under way, and the shortest of those that nobody will hear of any more. ms. */
  #open: readonly number[] = [];
  #lost = Number.POSITIVE_INFINITY;

  /** Notes a renewal to `ttl`. How much of that is sure once it is confirmed, ms. */
  sent(ttl: number): number {
    const sure = leastOf(this.#open, Math.min(ttl, this.#lost));
    this.#open = [...this.#open, ttl];
    return sure;
  }

  /** @param known whether it arrived; else it still may */
  settled(ttl: number, known: boolean): void {
    this.#open = this.#open.toSpliced(this.#open.indexOf(ttl), 1);
    if (!known) this.#lost = Math.min(ttl, this.#lost);
  }
}
