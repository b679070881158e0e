import type { Ledger } from '../ledger.ts';

/** The resource that the locks guard. It has a word per key, and two answers to each write: by the token, and without it. */
export class Register {
  /** For each key the highest token, and who wrote first with it. */
  readonly #marks = new Map<string, { token: bigint | undefined; op: string }>();
  /** Late writes: another holder had followed. A resource without a token check takes them. */
  stale = 0;
  /** How many of these the token check refused. */
  refused = 0;

  /**
   * A holder's first write: from now on the register refuses older holders. Without tokens it accepts everything.
   * @returns whether no earlier token was higher
   */
  claim(ledger: Ledger, op: string): boolean {
    const wish = ledger.wishes.get(op);
    if (!wish?.hold) return false;
    const { token } = wish.hold;
    if (this.#refuses(wish.key, token)) return false;
    this.#marks.set(wish.key, { token, op });
    return true;
  }

  /** A holder's last write. @returns whether its token allows it */
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
