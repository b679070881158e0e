import { hash } from 'node:crypto';
import { LockError, quoted } from '../../core/index.ts';
import { claimsOf, type JsonClaim, jsonOf, type StoredClaim } from '../shared/stored-queue.ts';

/** The form of a stored document. A form of a newer version is refused. */
const FORM = 1;

export interface QueueDocument {
  readonly claims: Iterable<StoredClaim>;
  /** The highest token given or reserved. */
  readonly last: bigint;
  /** The marks of the last steps that removed a claim. A step whose write was sent twice finds its mark, and so knows that it is done. */
  readonly out: readonly string[];
}

export interface StoredHint {
  readonly text: string | null;
  readonly life: number;
  /** When it expires, by the store's clock; undefined if the store has no clock. */
  readonly expires?: number;
}

interface StoredDocument {
  readonly holdfast: number;
  /** As the caller gave it. */
  readonly key: string;
  /** No other write has this mark, so no two texts are alike: some stores compute the version from the text. */
  readonly write: string;
  readonly last?: string;
  readonly claims?: readonly JsonClaim[];
  readonly out?: readonly string[];
  readonly hint?: StoredHint;
}

export const queueText = (key: string, document: QueueDocument, write: string): string => {
  const { last, claims, out } = document;
  return JSON.stringify({ holdfast: FORM, key, write, last: `${last}`, claims: jsonOf(claims), out });
};

export const hintText = (key: string, hint: StoredHint, write: string): string =>
  JSON.stringify({ holdfast: FORM, key, write, hint });

/** @throws LockError when `text` is not a queue that this version wrote */
export function queueDocumentOf(text: string, key: string, store: string): QueueDocument {
  const { last, claims, out = [] } = documentOf(text, key, store);
  if (last === undefined || !claims) return refuse(key, store);
  return { last: BigInt(last), claims: claimsOf(claims), out };
}

/** @throws LockError when `text` is not a hint that this version wrote */
export function hintOf(text: string, key: string, store: string): StoredHint {
  return documentOf(text, key, store).hint ?? refuse(key, store);
}

/** The key of a text that holdfast stored. */
export const keyOf = (text: string): string | undefined => {
  const { holdfast, key } = parse(text) ?? {};
  return holdfast === undefined ? undefined : key;
};

function documentOf(text: string, key: string, store: string): StoredDocument {
  const stored = parse(text);
  if (stored?.key !== key || typeof stored.holdfast !== 'number') return refuse(key, store);
  if (stored.holdfast === FORM) return stored;
  const message = `a newer version of holdfast wrote this key in ${store}, in form ${stored.holdfast}, which this version cannot read; upgrade this one`;
  throw new LockError('LOCK_UNAVAILABLE', message, { key, backend: store });
}

function parse(text: string): StoredDocument | undefined {
  try {
    return (JSON.parse(text) as StoredDocument | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function refuse(key: string, store: string): never {
  const message = `in ${store}, something that holdfast did not write is where ${quoted(key)} belongs. It was left as it is: give the locks another prefix`;
  throw new LockError('LOCK_INVALID', message, { key, backend: store });
}

/** The longest name that is spelt out, bytes. */
const MAX_NAME_BYTES = 512;
/** So many characters of a longer name are spelt out; a digest follows. */
const HEAD_LENGTH = 440;
const PLAIN = /^[A-Za-z0-9_-]$/;

/** A key in characters that every store takes: each other byte is `=` and two hexadecimal digits. */
const spelt = (key: string): string =>
  Array.from(Buffer.from(key), (byte) => {
    const character = String.fromCharCode(byte);
    return PLAIN.test(character) ? character : `=${byte.toString(16).padStart(2, '0')}`;
  }).join('');

export const nameOf = (key: string): string => {
  const name = spelt(key);
  return name.length <= MAX_NAME_BYTES ? name : `${name.slice(0, HEAD_LENGTH)}.${hash('sha256', key, 'base64url')}`;
};

/** The beginning of the names of all keys that begin with `prefix`. Names of other keys may begin with it, too. */
export const headOf = (prefix: string): string => spelt(prefix).slice(0, HEAD_LENGTH);
