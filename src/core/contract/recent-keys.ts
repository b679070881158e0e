/** How many keys are remembered. */
const MAX_KEPT_KEYS = 1_000;

/** What a process knows of the keys that it used last. A key that is not used for long makes room for others. */
export class RecentKeys<V> extends Map<string, V> {
  readonly #kept: number;
  readonly #stays: (value: V) => boolean;

  /** @param stays tells which values are not forgotten yet, however long ago they were used */
  constructor(kept: number = MAX_KEPT_KEYS, stays: (value: V) => boolean = () => false) {
    super();
    this.#kept = kept;
    this.#stays = stays;
  }

  /** Remembers the key as the one that was used last, and forgets those that were not used for longest. */
  override set(key: string, value: V): this {
    this.delete(key);
    super.set(key, value);
    if (this.size <= this.#kept) return this;
    for (const [old, each] of this) {
      if (old !== key && !this.#stays(each)) this.delete(old);
      if (this.size <= this.#kept) break;
    }
    return this;
  }
}
