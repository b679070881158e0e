import type { Claim, Grant } from '../../core/contract/backend.ts';

type Wake = (grant?: Grant) => void;

const DONE = Promise.resolve();

/** A claim that waits to be told of its turn. */
interface WaitingClaim {
  readonly claim: Claim;
  readonly wake: Wake;
}

/** The claims of this process that a backend tells of their turn, by id. Of two watches of a claim the later one counts. */
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

  /** Wakes all, after a time in which something may have gone unheard. */
  wakeAll(): void {
    for (const { wake } of [...this.values()]) wake();
  }
}
