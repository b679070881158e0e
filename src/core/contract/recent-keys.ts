/** The number of keys that are kept. */
const MAX_KEPT_KEYS = 1_000;

/** A value for each of the keys that were used last. A key that was not used for long makes room for others. */
export class RecentKeys<V> extends Map<string, V> {
  readonly #kept: number;
  readonly #stays: (value: V) => boolean;

  /** @param stays whether a value has to stay, however long ago its key was used */
  constructor(kept: number = MAX_KEPT_KEYS, stays: (value: V) => boolean = () => false) {
    super();
    this.#kept = kept;
    this.#stays = stays;
  }

  /** Keeps the key as the one that was used last, and drops the keys that were not used for longest. */
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
