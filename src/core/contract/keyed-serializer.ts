/** Makes the calls for one id one after the other. None may overtake an earlier one that it repeats or takes back. */
export class KeyedSerializer<K = string> {
  readonly #last = new Map<K, Promise<unknown>>();

  /** Whether a call for this id is under way. */
  has(id: K): boolean {
    return this.#last.has(id);
  }

  take<T>(id: K, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(id);
    const mine = before ? before.then(work, work) : work();
    this.#last.set(id, mine);
    const over = (): void => {
      if (this.#last.get(id) === mine) this.#last.delete(id);
    };
    mine.then(over, over);
    return mine;
  }
}
