import type { Left } from '../core/contract/backend.ts';
import { invalid, isLockError, LockError, quoted, reasonOf } from '../core/contract/errors.ts';
import type { MemoPlan } from './options.ts';

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

/** What stands before the body. */
const HEAD = /^(\d+) (kept|failed|poisoned|unkept) (plain|sealed) (\S+) /;

/** @throws what `seal` throws */
export function writeEntry({ kind, match, body }: Entry, { seal }: Pick<MemoPlan, 'seal'>): string {
  const sealed = seal && kind !== 'unkept' ? sealedBy(seal.seal(body)) : undefined;
  return `1 ${kind} ${sealed === undefined ? 'plain' : 'sealed'} ${match} ${sealed ?? body}`;
}

function sealedBy(text: unknown): string {
  if (typeof text === 'string') return text;
  throw new TypeError('seal.seal() gave no text');
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
    return { ...entry, body: sealedBy(seal.open(entry.body)) };
  } catch (cause) {
    throw unreadable(key, 'seal.open()', cause);
  }
}

/** The error for a body that somebody's function does not take. Its message has nothing of the words. */
export const unreadable = (key: string, what: string, cause: unknown): LockError =>
  new LockError('LOCK_INVALID', `what is kept of ${quoted(key)} was refused by ${what}. It is not run again`, {
    key,
    cause,
  });

export function errorBody(error: unknown, { by, ttl }: Pick<KeptError, 'by' | 'ttl'>, longest: number): string {
  const { name, message, code } = (error instanceof Error ? error : new Error(String(error))) as Error & {
    code?: unknown;
  };
  return JSON.stringify({
    name,
    message: message.slice(0, longest).toWellFormed(),
    ...(typeof code === 'string' && { code }),
    by,
    ttl,
  } satisfies KeptError);
}

/** ms since it was left. Errors are left without an age. */
export const ageOf = ({ kind, body }: Entry, { age, validFor }: Left): number =>
  kind === 'failed' || kind === 'poisoned' ? (JSON.parse(body) as KeptError).ttl - validFor : age;

/** The words, seen `ms` later; undefined if they are over by then. */
export const aged = (left: Left, ms: number): Left | undefined =>
  ms < left.validFor ? { ...left, age: left.age + ms, validFor: left.validFor - ms } : undefined;

/** The error that others get: the code of ours, and as its cause what was thrown. */
export function errorOf({ kind, body }: Entry, key: string, backend: string): LockError {
  if (kind === 'unkept') {
    const [code, ...why] = body.split(' ');
    return new LockError(
      code === 'LOCK_TOO_LARGE' ? code : 'LOCK_INVALID',
      `${quoted(key)} has a result that could not be kept: ${why.join(' ')}. It is not run again; forget() it, or keep a reference`,
      { key, backend },
    );
  }
  const { name, message, code, by } = JSON.parse(body) as KeptError;
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

/** The body of a mark for a result that cannot be kept. */
export const unkeptBody = (error: unknown): string =>
  `${isLockError(error) ? error.code : 'LOCK_INVALID'} ${reasonOf(error)}`;
