/** Things in no order, each of which knows its slot: below 0 it is in no bag. A Set that is filled and emptied again and again costs more. */
export class Bag<T extends { slot: number }> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** As they are now: what is done with one may change the bag. */
  get items(): T[] {
    return [...this.#items];
  }

  add(item: T): void {
    item.slot = this.#items.push(item) - 1;
  }

  /** Whether it was in. */
  remove(item: T): boolean {
    const { slot } = item;
    if (slot < 0) return false;
    const last = this.#items.pop()!;
    if (last !== item) {
      this.#items[slot] = last;
      last.slot = slot;
    }
    item.slot = -1;
    return true;
  }
}
