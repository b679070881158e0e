import type { History } from '../history.ts';

/** The resource that the locks guard. It has a word per key, and two answers to each write: by the token, and without it. */
export class Register {
  /** The highest token of each key, and the operation that wrote first with it. */
  readonly #marks = new Map<string, { token: bigint | undefined; op: string }>();
  /** Late writes: another holder had followed. A resource without a token check takes them. */
  stale = 0;
  /** How many of these the token check refused. */
  refused = 0;

  /**
   * A holder's first write: from now on the register refuses older holders. Without tokens it accepts everything.
   * @returns whether no earlier token was higher
   */
  claim(history: History, op: string): boolean {
    const operation = history.operations.get(op);
    if (!operation?.hold) return false;
    const { token } = operation.hold;
    if (this.#refuses(operation.key, token)) return false;
    this.#marks.set(operation.key, { token, op });
    return true;
  }

  /** A holder's last write. @returns whether its token allows it */
  write(history: History, op: string): boolean {
    const operation = history.operations.get(op);
    const mark = operation && this.#marks.get(operation.key);
    const accepted =
      mark !== undefined && operation?.hold !== undefined && !this.#refuses(operation.key, operation.hold.token);
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
