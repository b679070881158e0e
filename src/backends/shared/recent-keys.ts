/** How many keys are remembered. */
const KEPT = 1_000;

/** What a process knows of the keys that it used last. A key that is not used for long makes room for others. */
export class RecentKeys<V> extends Map<string, V> {
  /** Remembers the key as the one that was used last, and forgets the one that was not used for longest. */
  override set(key: string, value: V): this {
    this.delete(key);
    super.set(key, value);
    const [oldest] = this.size > KEPT ? this.keys() : [];
    if (oldest !== undefined) this.delete(oldest);
    return this;
  }
}
