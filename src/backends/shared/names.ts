/** The names from `from` up to, but not including, `to`: bytes. */
export type NameRange = Readonly<Record<'from' | 'to', Buffer>>;

/** Gives the range of the names that begin with `name`, or of that name alone. */
export function rangeFrom(name: string, exact = false): NameRange {
  const from = Buffer.from(name);
  return { from, to: Buffer.concat([from, Uint8Array.of(exact ? 0 : 0xff)]) }; // no byte of UTF-8 is 0xff
}

/** The beginning of a hint's key: the second half of a surrogate pair. Keys of locks are well-formed, so none begins with it. */
const HINT = '\uDC00';
export const hintKey = (name: string): string => HINT + name;
export const isHint = (key: string): boolean => key.startsWith(HINT);

/** The names under which an engine stores keys and hints: bytes, compared as bytes. */
export class StoredNames {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** No prefix begins with `!`, so no key has the name of a hint. */
  of(key: string): Buffer {
    return Buffer.from(isHint(key) ? `!${this.#prefix}/${key.slice(HINT.length)}` : `${this.#prefix}/${key}`);
  }

  keyOf(name: Uint8Array): string {
    return Buffer.from(name).toString('utf8', Buffer.byteLength(this.#prefix) + 1);
  }

  /** Gives the range of the keys that begin with `start`, or of that key alone. */
  range(start: string, exact?: boolean): NameRange {
    return rangeFrom(`${this.#prefix}/${start}`, exact);
  }
}
