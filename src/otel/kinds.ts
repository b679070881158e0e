import { reasonOf, shown } from '../core/index.ts';
import { nameOfKey } from '../once/tick.ts';

/** The kind of a key if `kindOf` gives none, or if there are too many kinds. */
const OTHER = 'other';
/** The longest name of a kind, in characters. */
const MAX_KIND_LENGTH = 100;

/** The part of a key before its first `:`. For the key of a tick, the same part of its schedule's name. */
export function kindOfKey(key: string): string {
  const name = nameOfKey(key);
  const end = name.indexOf(':');
  return end < 0 ? name : name.slice(0, end);
}

/** The kinds of keys. Their number has a limit, since each needs a series of metrics. */
export class Kinds {
  readonly #known = new Set<string>();
  readonly #kindOf: (key: string) => string;
  readonly #most: number;
  readonly #warn: (message: () => string) => void;

  /** @param warn is called each time that `kindOf` throws or returns no kind */
  constructor(kindOf: (key: string) => string, most: number, warn: (message: () => string) => void) {
    this.#kindOf = kindOf;
    this.#most = most;
    this.#warn = warn;
  }

  of(key: string): string {
    const kind = this.#askForKind(key);
    if (this.#known.has(kind)) return kind;
    if (this.#known.size >= this.#most) return OTHER;
    this.#known.add(kind);
    return kind;
  }

  #askForKind(key: string): string {
    try {
      const kind: unknown = this.#kindOf(key);
      if (typeof kind === 'string' && kind !== '' && kind.length <= MAX_KIND_LENGTH) return kind;
      this.#complain(`gave ${typeof kind === 'string' ? `a text of ${kind.length} characters` : shown(kind)}`);
    } catch (error) {
      this.#complain(`threw ${reasonOf(error)}`);
    }
    return OTHER;
  }

  #complain(what: string): void {
    const rule = `a kind is a text of 1 to ${MAX_KIND_LENGTH} characters`;
    this.#warn(() => `kindOf ${what} for a key; ${rule}. Its locks are counted as '${OTHER}'`);
  }
}
