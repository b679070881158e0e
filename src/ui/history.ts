import { RecentKeys } from '../core/contract/recent-keys.ts';
import type { Change, Past } from './changes.ts';

/** How many keys keep their past: those that changed, or that somebody asked for, last. */
const KEYS = 1_000;
/** How many holds of a key are kept. */
const HOLDS = 200;
/** How many changes of all keys are kept. */
const CHANGES = 500;
/** How many losses of all keys are kept: those of a busy hour. */
const LOSSES = 100;

/** Whether a hold was taken from its holder: these are told longer than other changes. */
const isLoss = ({ past }: Change): boolean => past?.end === 'expired' || past?.end === 'evicted';

/** The recent past of all keys and of each key, with a limit. */
export class History {
  readonly #pasts = new RecentKeys<Past[]>(KEYS);
  #changes: Change[] = [];
  readonly #losses: Change[] = [];

  add(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#changes.push(change);
      if (change.past) this.#keep(change.key, change.past);
      if (isLoss(change) && this.#losses.push(change) > LOSSES) this.#losses.shift();
    }
    if (this.#changes.length > 2 * CHANGES) this.#changes = this.#changes.slice(-CHANGES);
  }

  /** The newest changes first, of keys that begin with the prefix. */
  latest(count: number, prefix = ''): Change[] {
    return newest(this.#changes, count, prefix);
  }

  /** The newest losses first, however much happened since. */
  losses(count: number, prefix = ''): Change[] {
    return newest(this.#losses, count, prefix);
  }

  /** The past holds of a key, the oldest first. */
  of(key: string): readonly Past[] {
    const pasts = this.#pasts.get(key);
    if (!pasts) return [];
    this.#pasts.set(key, pasts); // now the last that is forgotten
    return pasts;
  }

  #keep(key: string, past: Past): void {
    const pasts = this.#pasts.get(key) ?? [];
    pasts.push(past);
    if (pasts.length > HOLDS) pasts.shift();
    this.#pasts.set(key, pasts);
  }
}

function newest(changes: readonly Change[], count: number, prefix: string): Change[] {
  const found: Change[] = [];
  for (let i = changes.length - 1; i >= 0 && found.length < count; i--)
    if (changes[i]!.key.startsWith(prefix)) found.push(changes[i]!);
  return found;
}
