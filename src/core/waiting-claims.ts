import type { Claim, Grant } from './backend.ts';

type Wake = (grant?: Grant) => void;

/** The claims of this process that a backend tells of their turn, by id, and how each is told. Of two watches of a claim the later one counts. */
export class WaitingClaims extends Map<string, { readonly claim: Claim; readonly wake: Wake }> {
  /** @param over told when the claim no longer waits because its watch was ended */
  watch(claim: Claim, wake: Wake, over: () => void = () => {}): AsyncDisposable {
    const mine = { claim, wake };
    this.set(claim.id, mine);
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.get(claim.id) === mine && this.delete(claim.id)) over();
      },
    };
  }
}
