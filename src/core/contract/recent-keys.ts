/** The number of keys that are kept. */
const MAX_KEPT_KEYS = 1_000;

/** A value for each of the keys that were used last. A key that was not used for long makes room for others. Up to a sixty-fourth more may be kept. */
export class RecentKeys<V> extends Map<string, V> {
  readonly #kept: number;
  readonly #stays: (value: V) => boolean;
  /** For how many uses no room is made. */
  #rest = 0;

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
    if (this.size <= this.#kept || this.#rest-- > 0) return this;
    for (const [old, each] of this) {
      if (old !== key && !this.#stays(each)) this.delete(old);
      if (this.size <= this.#kept) break;
    }
    // To make room may take a look at all keys. If each use did so, n uses would take n² looks.
    this.#rest = this.size >> 6;
    return this;
  }
}
