import type { Claim, Wake } from '../../core/contract/backend.ts';

const DONE = Promise.resolve();

/** A claim that waits for its turn. */
interface WaitingClaim {
  readonly claim: Claim;
  readonly wake: Wake;
}

/** The claims of this process that a backend wakes when it is their turn, by id. If a claim is watched twice, the later watch counts. */
export class WaitingClaims extends Map<string, WaitingClaim> {
  /** @param over is called when the end of this watch leaves the claim without one */
  watch(claim: Claim, wake: Wake, over?: () => void): AsyncDisposable {
    const mine: WaitingClaim = { claim, wake };
    this.set(claim.id, mine);
    return {
      [Symbol.asyncDispose]: () => {
        if (this.get(claim.id) === mine && this.delete(claim.id)) over?.();
        return DONE;
      },
    };
  }

  /** Wakes the claims of a key that words may answer: some were left. */
  wakeAnswerable(key: string): void {
    for (const { claim, wake } of [...this.values()]) if (claim.answered && claim.key === key) wake();
  }

  /** Wakes all claims, after a time in which a message may have been lost. */
  wakeAll(): void {
    for (const { wake } of [...this.values()]) wake();
  }
}
