import { invalid, LockError, quoted, type StoredValue } from '../core/index.ts';
import { given, type RefusedValue, textGiven, toText } from './encoding.ts';
import { checkMatch } from './match.ts';
import type { MemoPlan } from './options.ts';

/**
 * The kind of what is stored under the key of a memo. `kept`: a result. `failed`: an error that is kept. `poisoned`: all attempts are used
 * up, and no run begins for a while. `unkept`: a run had a result that could not be kept; no other run begins.
 */
export type Kind = 'kept' | 'failed' | 'poisoned' | 'unkept';

export interface Entry {
  readonly kind: Kind;
  /** The fingerprint of the request, or `NO_MARK`. */
  readonly match: string;
  readonly body: string;
}

export interface StoredEntry extends Entry {
  readonly sealed: boolean;
}

export interface KeptError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  /** The label of the process that ran the function. */
  readonly by: string;
  /** How long the error is kept, ms. */
  readonly ttl: number;
}

const MAX_MESSAGE_LENGTH = 1_000;
const MAX_NAME_LENGTH = 100;

/** The head of a stored text: version, kind, seal and mark. The body follows. */
const HEAD = /^(\d+) (kept|failed|poisoned|unkept) (plain|sealed) (\S+) /;

/** @throws RefusedValue if `seal` fails */
export function writeEntry({ kind, match, body }: Entry, seal: MemoPlan['seal']): string {
  const sealed = seal && textGiven('seal.seal()', () => seal.seal(body));
  return `1 ${kind} ${seal ? 'sealed' : 'plain'} ${match} ${sealed ?? body}`;
}

/** @throws LockError `LOCK_INVALID` for a text that this version does not understand */
export function readStored(text: string, key: string): StoredEntry {
  const found = HEAD.exec(text);
  if (found?.[1] === '1') {
    const body = text.slice(found[0].length);
    return { kind: found[2] as Kind, match: found[4]!, body, sealed: found[3] === 'sealed' };
  }
  const why = !found && !/^\d+ /.test(text) ? 'is broken' : 'has the format of a newer version';
  throw invalid(`what is kept of ${quoted(key)} ${why}. It is not run again; update holdfast, or forget() it`, key);
}

/** Checks the request of an entry, then opens its seal. @throws LockError `LOCK_MISMATCH`, `LOCK_INVALID` */
export function opened(plan: Pick<MemoPlan, 'key' | 'backend' | 'match' | 'seal'>, entry: StoredEntry): Entry {
  checkMatch(plan, entry.match);
  const { key, seal } = plan;
  if (!entry.sealed) return entry;
  if (!seal) throw invalid(`what is kept of ${quoted(key)} is sealed, and this memo has no seal to open it`, key);
  return { ...entry, body: readable(key, () => textGiven('seal.open()', () => seal.open(entry.body))) };
}

/** @throws RefusedValue */
export const encoded = <T>({ encode }: Pick<MemoPlan<T>, 'encode'>, value: T): string =>
  textGiven(encode === toText ? 'a part of it' : 'encode()', () => encode(value));

/** The value of a text from `encoded`. @throws LockError `LOCK_INVALID` */
export const decoded = <T>({ key, decode }: Pick<MemoPlan<T>, 'key' | 'decode'>, body: string): T =>
  readable(key, () => given('decode()', () => decode(body)));

/** Calls `read`, which reads a stored text. @throws LockError `LOCK_INVALID`, which shows nothing of that text */
function readable<R>(key: string, read: () => R): R {
  try {
    return read();
  } catch (refused) {
    const { message } = refused as RefusedValue;
    throw invalid(`what is kept of ${quoted(key)} cannot be read: ${message}. It is not run again; forget() it`, key);
  }
}

export const unkeepable = (key: string, { message }: RefusedValue): LockError =>
  invalid(`the result of ${quoted(key)} cannot be kept: ${message}`, key);

/** An error as a body of bounded length: a function may throw any value of any size. */
export const errorBody = (error: unknown, { by, ttl }: Pick<KeptError, 'by' | 'ttl'>): string =>
  JSON.stringify({ ...partsOf(error), by, ttl } satisfies KeptError);

function partsOf(error: unknown): Pick<KeptError, 'name' | 'message' | 'code'> {
  try {
    const { name, message = error, code } = Object(error) as Partial<Record<string, unknown>>;
    return {
      name: typeof name === 'string' ? cut(name, MAX_NAME_LENGTH) : 'Error',
      message: cut(typeof message === 'object' && message ? 'an object' : String(message), MAX_MESSAGE_LENGTH),
      ...(typeof code === 'string' && { code: cut(code, MAX_NAME_LENGTH) }),
    };
  } catch {
    return { name: 'Error', message: 'an error that cannot be read' };
  }
}

const cut = (text: string, length: number): string => text.slice(0, length).toWellFormed();

/** The body for a result that cannot be kept. @param sealed whether the result is a secret: then the body shows no path in it */
export const unkeptBody = ({ code, message, kind }: RefusedValue, sealed: boolean): string =>
  `${code} ${cut(sealed ? kind : message, MAX_MESSAGE_LENGTH)}`;

/** How long ago an entry was stored, ms. Engines keep no age of an error: it is `ttl` less the time left. @throws LockError `LOCK_INVALID` */
export const ageOf = (entry: Entry, { age, validFor }: StoredValue, key: string): number =>
  entry.kind === 'failed' || entry.kind === 'poisoned' ? keptErrorIn(entry, key).ttl - validFor : age;

/** @throws LockError `LOCK_INVALID` if the body has another form: a seal may return any text */
const keptErrorIn = ({ body }: Entry, key: string): KeptError =>
  readable(key, () => given('its format', () => JSON.parse(body) as KeptError));

/** The error for the callers whose function did not run. Its cause is the error of the function that ran. */
export function errorOf(entry: Entry, { key, backend }: Pick<MemoPlan, 'key' | 'backend'>): LockError {
  if (entry.kind === 'unkept') {
    const [code, ...why] = entry.body.split(' ');
    const message = `${quoted(key)} has a result that could not be kept: ${why.join(' ')}. It is not run again; forget() it, or keep a reference`;
    return new LockError(code === 'LOCK_TOO_LARGE' ? code : 'LOCK_INVALID', message, { key, backend });
  }
  const { name, message, code, by } = keptErrorIn(entry, key);
  const cause = Object.assign(new Error(message), { name, ...(code !== undefined && { code }) });
  const isFailed = entry.kind === 'failed';
  const why = isFailed
    ? `was run by ${by} and failed: ${message}. The error is kept`
    : `was begun too often without a result, last by ${by}: ${message}. Find out why, and forget() it`;
  const ownCode = isFailed ? 'LOCK_FAILED' : 'LOCK_POISONED';
  return new LockError(ownCode, `${quoted(key)} ${why}`, { key, backend, cause });
}
