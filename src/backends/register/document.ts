import { LockError, quoted } from '../../core/contract/errors.ts';

/** The form of what is written: a later one is refused, never guessed. */
const FORM = 1;

/** A claim in the line of its key. */
export interface Place {
  readonly id: string;
  readonly units: number;
  readonly capacity: number;
  readonly label: string;
  token: bigint;
  /** Admitted by the rule. Kept, because a hold lives longer than a place. */
  held: boolean;
  /** How long a hold lives without a sign of life, ms. */
  ttl: number;
  /** Grows with every sign of life. */
  beat: number;
  /** ms for which the last sign of life is good. */
  life: number;
  /** When that was, by the store's clock, if it has one. */
  at?: number;
  /** Where it has none: for how long others have seen that sign of life unmoved, at least, before this was written, ms. */
  watched?: number | undefined;
  /** When it joined, by the store's clock. */
  joined?: number;
}

/** The line of a key as it is stored. */
export interface Line {
  /** The highest token given or reserved. */
  last: bigint;
  places: Place[];
  /** Marks of the steps that took a claim out last: one whose write was sent twice finds that it did. */
  out: readonly string[];
}

/** A few words for all processes. */
export interface Note {
  readonly text: string | null;
  readonly life: number;
  readonly at?: number;
}

interface StoredLine {
  readonly holdfast: number;
  /** As the caller gave it. */
  readonly key: string;
  /** No other write has this word, so no two texts are alike: some stores make the version of the text. */
  readonly write: string;
  readonly last?: string;
  readonly line?: readonly (Omit<Place, 'token'> & { readonly token: string })[];
  readonly out?: readonly string[];
  readonly note?: Note;
}

const big = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}` : value);

export const lineText = (key: string, { last, places, out }: Line, write: string): string =>
  JSON.stringify({ holdfast: FORM, key, write, last, line: places, out }, big);

export const noteText = (key: string, note: Note, write: string): string =>
  JSON.stringify({ holdfast: FORM, key, write, note });

/** @throws LockError when it is not a line that this version wrote */
export function lineOf(text: string, key: string, store: string): Line {
  const { last, line, out = [] } = storedLineOf(text, key, store);
  if (last === undefined || !line) return refuse(key, store);
  return { last: BigInt(last), places: line.map((place) => ({ ...place, token: BigInt(place.token) })), out };
}

/** @throws LockError when it is not a note that this version wrote */
export function noteOf(text: string, key: string, store: string): Note {
  return storedLineOf(text, key, store).note ?? refuse(key, store);
}

/** The key of a stored text, if it is ours. */
export const keyOf = (text: string): string | undefined => {
  const { holdfast, key } = parse(text) ?? {};
  return holdfast === undefined ? undefined : key;
};

function storedLineOf(text: string, key: string, store: string): StoredLine {
  const stored = parse(text);
  if (stored?.key !== key || typeof stored.holdfast !== 'number') return refuse(key, store);
  if (stored.holdfast === FORM) return stored;
  const message = `a newer version of holdfast wrote this key in ${store}, in form ${stored.holdfast}, which this version cannot read; upgrade this one`;
  throw new LockError('LOCK_UNAVAILABLE', message, { key, backend: store });
}

function parse(text: string): StoredLine | undefined {
  try {
    return (JSON.parse(text) as StoredLine | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function refuse(key: string, store: string): never {
  const message = `in ${store}, something that holdfast did not write is where ${quoted(key)} belongs. It was left as it is: give the locks another prefix`;
  throw new LockError('LOCK_INVALID', message, { key, backend: store });
}
