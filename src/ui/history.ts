import type { Change, Past } from './changes.ts';

/** Keys whose past is kept; of more, those that changed or were asked for last. */
const KEYS = 1_000;
/** Holds of a key that are kept. */
const HOLDS = 200;
/** Changes of all keys that are kept. */
const CHANGES = 500;

/** What happened lately, of all keys and of each. Bounded, whatever happens. */
export class History {
  readonly #pasts = new Map<string, Past[]>();
  #changes: Change[] = [];

  add(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#changes.push(change);
      if (change.past) this.#keep(change.key, change.past);
    }
    if (this.#changes.length > 2 * CHANGES) this.#changes = this.#changes.slice(-CHANGES);
  }

  /** The newest first, of the keys that begin with the prefix. */
  latest(count: number, prefix = ''): Change[] {
    const found: Change[] = [];
    for (let i = this.#changes.length - 1; i >= 0 && found.length < count; i--)
      if (this.#changes[i]!.key.startsWith(prefix)) found.push(this.#changes[i]!);
    return found;
  }

  /** The holds of a key that are over, the oldest first. */
  of(key: string): readonly Past[] {
    const pasts = this.#pasts.get(key);
    if (!pasts) return [];
    this.#pasts.delete(key);
    this.#pasts.set(key, pasts); // the last to be forgotten now
    return pasts;
  }

  #keep(key: string, past: Past): void {
    const pasts = this.#pasts.get(key) ?? [];
    pasts.push(past);
    if (pasts.length > HOLDS) pasts.shift();
    this.#pasts.delete(key);
    this.#pasts.set(key, pasts);
    if (this.#pasts.size > KEYS) this.#pasts.delete(this.#pasts.keys().next().value!);
  }
}
