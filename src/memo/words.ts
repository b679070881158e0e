import { invalid, LockError, quoted, type StoredValue } from '../core/index.ts';
import type { Refused } from './encoding.ts';
import { given, textGiven } from './given.ts';
import type { MemoPlan } from './options.ts';
import { unreadable } from './value.ts';

/**
 * What is left under the key of a memo. `kept`: a result. `failed`: an error that is kept. `poisoned`: nobody begins for a while.
 * `unkept`: there was a result, which could not be kept; it is not to be made again.
 */
export type Kind = 'kept' | 'failed' | 'poisoned' | 'unkept';

export interface Entry {
  readonly kind: Kind;
  /** The fingerprint of the request, or `NO_MARK`. */
  readonly match: string;
  readonly body: string;
}

/** An error as it is kept. */
export interface KeptError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  /** Who ran it. */
  readonly by: string;
  /** How long it is kept, ms. */
  readonly ttl: number;
}

/** An entry as it is stored: its body may be sealed. */
export interface StoredEntry extends Entry {
  readonly sealed: boolean;
}

const LONGEST_MESSAGE = 1_000;
const LONGEST_NAME = 100;

/** What stands before the body. */
const HEAD = /^(\d+) (kept|failed|poisoned|unkept) (plain|sealed) (\S+) /;

/** @throws Refused by `seal` */
export function writeEntry({ kind, match, body }: Entry, seal: MemoPlan['seal']): string {
  const sealed = seal && textGiven('seal.seal()', () => seal.seal(body));
  return `1 ${kind} ${seal ? 'sealed' : 'plain'} ${match} ${sealed ?? body}`;
}

/** @throws LockError `LOCK_INVALID` for what this version does not understand */
export function readStored(text: string, key: string): StoredEntry {
  const found = HEAD.exec(text);
  if (found?.[1] === '1') {
    const body = text.slice(found[0].length);
    return { kind: found[2] as Kind, match: found[4]!, body, sealed: found[3] === 'sealed' };
  }
  const why = !found && !/^\d+ /.test(text) ? 'is broken' : 'has the format of a newer version';
  throw invalid(`what is kept of ${quoted(key)} ${why}. It is not run again; update holdfast, or forget() it`, key);
}

/** @throws LockError `LOCK_INVALID` for what `seal` does not open */
export function opened(entry: StoredEntry, { key, seal }: Pick<MemoPlan, 'key' | 'seal'>): Entry {
  if (!entry.sealed) return entry;
  if (!seal) throw invalid(`what is kept of ${quoted(key)} is sealed, and this memo has no seal to open it`, key);
  try {
    return { ...entry, body: textGiven('seal.open()', () => seal.open(entry.body)) };
  } catch (refused) {
    throw unreadable(key, refused as Refused);
  }
}

/** Writes down an error with its bounds, since anything may be thrown, and of any size. */
export const errorBody = (error: unknown, { by, ttl }: Pick<KeptError, 'by' | 'ttl'>): string =>
  JSON.stringify({ ...saidOf(error), by, ttl } satisfies KeptError);

function saidOf(error: unknown): Pick<KeptError, 'name' | 'message' | 'code'> {
  try {
    const { name, message = error, code } = Object(error) as Partial<Record<string, unknown>>;
    return {
      name: typeof name === 'string' ? cut(name, LONGEST_NAME) : 'Error',
      message: cut(typeof message === 'object' && message ? 'an object' : String(message), LONGEST_MESSAGE),
      ...(typeof code === 'string' && { code: cut(code, LONGEST_NAME) }),
    };
  } catch {
    return { name: 'Error', message: 'an error that cannot be read' };
  }
}

const cut = (text: string, longest: number): string => text.slice(0, longest).toWellFormed();

/** ms since it was left. Errors are left without an age. @throws LockError `LOCK_INVALID` */
export const ageOf = (entry: Entry, { age, validFor }: StoredValue, key: string): number =>
  entry.kind === 'failed' || entry.kind === 'poisoned' ? keptErrorIn(entry, key).ttl - validFor : age;

/** @throws LockError `LOCK_INVALID` for a body that was not written so: a seal may open anything */
function keptErrorIn({ body }: Entry, key: string): KeptError {
  try {
    return given('its format', () => JSON.parse(body) as KeptError);
  } catch (refused) {
    throw unreadable(key, refused as Refused);
  }
}

/** The words, seen `ms` later; undefined if they are over by then. */
export const aged = (left: StoredValue, ms: number): StoredValue | undefined =>
  ms < left.validFor ? { ...left, age: left.age + ms, validFor: left.validFor - ms } : undefined;

/** The error that others get: the code of ours, and as its cause what was thrown. */
export function errorOf(entry: Entry, key: string, backend: string): LockError {
  const { kind, body } = entry;
  if (kind === 'unkept') {
    const [code, ...why] = body.split(' ');
    return new LockError(
      code === 'LOCK_TOO_LARGE' ? code : 'LOCK_INVALID',
      `${quoted(key)} has a result that could not be kept: ${why.join(' ')}. It is not run again; forget() it, or keep a reference`,
      { key, backend },
    );
  }
  const { name, message, code, by } = keptErrorIn(entry, key);
  const cause = Object.assign(new Error(message), { name, ...(code !== undefined && { code }) });
  return kind === 'failed'
    ? new LockError('LOCK_FAILED', `${quoted(key)} was run by ${by} and failed: ${message}. The error is kept`, {
        key,
        backend,
        cause,
      })
    : new LockError(
        'LOCK_POISONED',
        `${quoted(key)} was begun too often without a result, last by ${by}: ${message}. Find out why, and forget() it`,
        { key, backend, cause },
      );
}

/** The body of a mark for a result that cannot be kept. @param sealed whether the result is a secret, also what names its parts */
export const unkeptBody = ({ code, message, kind }: Refused, sealed: boolean): string =>
  `${code} ${cut(sealed ? kind : message, LONGEST_MESSAGE)}`;
