/**
 * The renewals of one hold that its nodes have not answered. Each may still be on its way, be overtaken by a later one, and set
 * the hold to lapse by its own, shorter lease: until it is answered no node is good for longer.
 */
export class Unanswered {
  /** By the id of the hold at a node: leases under way, and the shortest of those that nobody will hear of any more. ms. */
  readonly #open = new Map<string, number[]>();
  readonly #lost = new Map<string, number>();

  /** Notes a renewal to `ttl`. How much of that is sure once it is confirmed, ms. */
  sent(id: string, ttl: number): number {
    const open = this.#open.get(id) ?? [];
    const sure = Math.min(ttl, this.#lost.get(id) ?? ttl, ...open);
    this.#open.set(id, [...open, ttl]);
    return sure;
  }

  /** @param known whether it arrived; else it still may */
  settled(id: string, ttl: number, known: boolean): void {
    const open = this.#open.get(id) ?? [];
    const rest = open.toSpliced(open.indexOf(ttl), 1);
    if (rest.length > 0) this.#open.set(id, rest);
    else this.#open.delete(id);
    if (!known) this.#lost.set(id, Math.min(ttl, this.#lost.get(id) ?? ttl));
  }

  /** The node is asked under another id from now on: what names this one changes nothing any more. */
  forget(id: string): void {
    this.#open.delete(id);
    this.#lost.delete(id);
  }
}
