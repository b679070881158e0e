import type { Claim, Grant } from '../../core/contract/backend.ts';

type Wake = (grant?: Grant) => void;

const DONE = Promise.resolve();

/** The claims of this process that a backend tells of their turn, by id. Of two watches of a claim the later one counts. */
export class WaitingClaims extends Map<string, WaitingClaim> {
  /** @param over told when the claim no longer waits since its watch was ended */
  watch(claim: Claim, wake: Wake, over?: () => void): AsyncDisposable {
    const mine = new WaitingClaim(this, claim, wake, over);
    this.set(claim.id, mine);
    return mine;
  }

  /** After a time in which something may have gone unheard. */
  wakeAll(): void {
    for (const { wake } of [...this.values()]) wake();
  }
}

class WaitingClaim implements AsyncDisposable {
  readonly claim: Claim;
  readonly wake: Wake;
  readonly #all: WaitingClaims;
  readonly #over: (() => void) | undefined;

  constructor(all: WaitingClaims, claim: Claim, wake: Wake, over?: () => void) {
    this.#all = all;
    this.claim = claim;
    this.wake = wake;
    this.#over = over;
  }

  [Symbol.asyncDispose](): Promise<void> {
    if (this.#all.get(this.claim.id) === this && this.#all.delete(this.claim.id)) this.#over?.();
    return DONE;
  }
}
