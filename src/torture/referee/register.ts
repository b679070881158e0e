import type { Ledger } from '../ledger.ts';

/** What the locks guard, for the referee: a word per key, taken once with a look at the token and once without. */
export class Register {
  /** By key: the highest token seen, and who claimed last. */
  readonly #marks = new Map<string, { token: bigint | undefined; op: string }>();
  /** Writes of holders whom another had followed, which whoever does not look at the token takes. */
  stale = 0;
  /** Of these, those that were refused by their token. */
  refused = 0;

  /**
   * A holder's first word: from now on nobody older writes. Of locks without tokens everything is taken.
   * @returns whether its token is as high as any before
   */
  claim(ledger: Ledger, op: string): boolean {
    const wish = ledger.wishes.get(op);
    if (!wish?.hold) return false;
    const { token } = wish.hold;
    if (this.#refuses(wish.key, token)) return false;
    this.#marks.set(wish.key, { token, op });
    return true;
  }

  /** A holder's last word. @returns whether its token lets it */
  write(ledger: Ledger, op: string): boolean {
    const wish = ledger.wishes.get(op);
    const mark = wish && this.#marks.get(wish.key);
    const accepted = mark !== undefined && wish?.hold !== undefined && !this.#refuses(wish.key, wish.hold.token);
    if (mark && mark.op !== op) {
      this.stale++;
      if (!accepted) this.refused++;
    }
    return accepted;
  }

  #refuses(key: string, token: bigint | undefined): boolean {
    const newest = this.#marks.get(key)?.token;
    return newest !== undefined && token !== undefined && token < newest;
  }
}
