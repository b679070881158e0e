import { leastOf } from '../../core/contract/extremes.ts';
/**
 * The renewals of one claim that its node has not answered. Each may still be on its way, arrive after a later one, and set the claim to
 * expiry by its own, shorter lease. Until the node answers, its vote is safe for no longer than that.
 */
export class PendingRenewals {
  /** The leases that are under way, and the shortest lease whose answer will never come. ms. */
  #open: readonly number[] = [];
  #lost = Number.POSITIVE_INFINITY;

  /** Notes that a renewal to `ttl` was sent. Returns how many ms of it are safe once the node confirms it. */
  begin(ttl: number): number {
    const safeFor = leastOf(this.#open, Math.min(ttl, this.#lost));
    this.#open = [...this.#open, ttl];
    return safeFor;
  }

  /** @param known true if the node answered; otherwise the renewal may still arrive */
  end(ttl: number, known: boolean): void {
    this.#open = this.#open.toSpliced(this.#open.indexOf(ttl), 1);
    if (!known) this.#lost = Math.min(ttl, this.#lost);
  }
}
