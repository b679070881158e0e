/** Up to so many are looked for one after the other: a Set that is filled and emptied again and again costs more. */
const FEW = 16;

/** What was added and not yet deleted, in its order, each once. The cost per step does not grow with their number. */
export class Members<M> {
  readonly #few: M[] = [];
  /** All of them, as long as they are more than a few. */
  #many: Set<M> | undefined;

  get size(): number {
    return this.#many?.size ?? this.#few.length;
  }

  has(member: M): boolean {
    return this.#many?.has(member) ?? this.#few.includes(member);
  }

  add(member: M): void {
    if (this.#many) this.#many.add(member);
    else if (this.#few.push(member) > FEW) this.#many = new Set(this.#few.splice(0));
  }

  /** Whether it was there. */
  delete(member: M): boolean {
    if (this.#many) {
      const was = this.#many.delete(member);
      if (this.#many.size === 0) this.#many = undefined;
      return was;
    }
    const at = this.#few.indexOf(member);
    if (at < 0) return false;
    this.#few.copyWithin(at, at + 1).pop();
    return true;
  }

  [Symbol.iterator](): Iterator<M> {
    return (this.#many ?? this.#few)[Symbol.iterator]();
  }
}
