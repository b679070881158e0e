import type { Traits } from './backend.ts';
import { invalid, shown } from './errors.ts';
import type { Finding } from './finding.ts';

/** What a store has under a key. */
export interface RegisterEntry {
  /** Undefined: nothing is there. */
  readonly text?: string | undefined;
  /**
   * It changes with every write of the key, and none comes twice, also where the key was removed and made again: an ETag, a revision of the
   * whole store, a random id. It is only compared.
   */
  readonly version?: string | undefined;
  /** The store's time of this read, ms, where `tellsTime`. */
  readonly now?: number;
}

/**
 * The result of a write. `false`: somebody else has written before, so nothing was changed. An entry: as `false`, with what is there now. A string:
 * the new version, which saves the next step a read. `true`: done, by a store that gives no version.
 */
export type Written = boolean | string | RegisterEntry;

/** What a write came to. */
export interface WriteOutcome {
  readonly taken: boolean;
  /** The new version, where the store gives it. */
  readonly version?: string;
  /** What is there instead, where the store gives it. */
  readonly found?: RegisterEntry;
}

/**
 * The only place that decides whether a store took a write. A driver may give anything for a row that was not changed, and a yes that was a
 * no lets two hold.
 * @throws LockError `LOCK_INVALID` for an answer that is none of the contract
 */
export function writeOutcome(written: Written, { name }: Pick<RegisterStore, 'name'>): WriteOutcome {
  if (written === true) return { taken: true };
  if (written === false) return { taken: false };
  if (typeof written === 'string' && written !== '') return { taken: true, version: written };
  if (isEntry(written)) return { taken: false, found: written };
  const wanted = 'the new version as a string, true, false where nothing was written, or the entry that is there';
  throw invalid(`write() of the store ${name} gave ${shown(written)}; it has to give ${wanted}`);
}

/**
 * What a read has brought; a driver may give null where nothing is there.
 * @throws LockError `LOCK_INVALID` for an answer that is none of the contract
 */
export function readEntry(
  entry: RegisterEntry | null | undefined,
  { name }: Pick<RegisterStore, 'name'>,
): RegisterEntry {
  if (entry === undefined || entry === null) return {};
  if (isEntry(entry)) return entry;
  const wanted = 'a text and its version, both strings, or undefined where nothing is there';
  throw invalid(`read() of the store ${name} gave ${shown(entry)}; it has to give ${wanted}`);
}

function isEntry(entry: unknown): entry is RegisterEntry {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return false;
  const { text, version, now: _, ...others } = entry as RegisterEntry;
  if (typeof text === 'string') return typeof version === 'string';
  // The result of a driver has neither: to take it for an empty entry would be a guess.
  return text === undefined && (version === undefined || typeof version === 'string') && !hasMembers(others);
}

const hasMembers = (value: object): boolean => Object.keys(value).length > 0;

/**
 * A store that can compare and set: all that a lock needs. What it throws means that the outcome is unknown; a `LockError`, that
 * nothing was done. Keys have the characters `A-Z a-z 0-9 _ - = / .`, and at most 650 of them.
 * @example
 * import type { RegisterStore } from 'holdfast/register';
 *
 * const kept = new Map<string, { text: string; version: string }>();
 * let writes = 0;
 * const store: RegisterStore = {
 *   name: 'map',
 *   async read(key) {
 *     return kept.get(key);
 *   },
 *   async write(key, text, ifVersion) {
 *     if (kept.get(key)?.version !== ifVersion) return false;
 *     const version = `${++writes}`;
 *     kept.set(key, { text, version });
 *     return version;
 *   },
 *   watch(key, tell) {
 *     const timer = setInterval(() => kept.has(key) && tell(), 100);
 *     return { async [Symbol.asyncDispose]() { clearInterval(timer); } };
 *   },
 *   async *list(prefix) {
 *     for (const key of kept.keys()) if (key.startsWith(prefix)) yield key;
 *   },
 *   async remove(key) {
 *     kept.delete(key);
 *   },
 *   async keeps() {
 *     return undefined; // for good
 *   },
 *   async check() {
 *     return [];
 *   },
 *   async close() {
 *     kept.clear();
 *   },
 * };
 */
export interface RegisterStore {
  /** The name in messages: `s3`, `consul`. */
  readonly name: string;
  /** Shortest lease, ms: long enough for a few requests. Default 100. */
  readonly minTtl?: number;
  /** The pauses of a waiter, ms, where each question costs money. Default: those of every engine. */
  readonly spin?: Traits['spin'];
  /** Other programs speak its protocol, and some check the condition apart from the write: so the proof has races, too. Default false. */
  readonly imitated?: boolean;
  /** A refused write says what is there: then the first step for a key is a write, and no read. Default false. */
  readonly tellsConflicts?: boolean;
  /** It has one clock for all clients, and every read gives its time: then claims expire by that clock. Default false. */
  readonly tellsTime?: boolean;
  /**
   * Reads what is there, or undefined. It must not be older than what this client wrote or read before: a hold that such a read does not show
   * is taken for lost. That others have written since, a write finds out.
   */
  read(key: string, signal: AbortSignal): Promise<RegisterEntry | undefined>;
  /** Writes if the key still has this version or, where that is undefined, if nothing is there: in one step of the store. */
  write(key: string, text: string, ifVersion: string | undefined, signal: AbortSignal): Promise<Written>;
  /** Calls `tell` at each write of the key, from when it returns or resolves; with the entry, if it has that. It may call too often. */
  watch?(key: string, tell: (entry?: RegisterEntry) => void): AsyncDisposable | Promise<AsyncDisposable>;
  /** The keys that begin with this, in any order. Without it nobody can list locks. */
  list?(prefix: string): AsyncIterable<string>;
  /** Removes what is there: a hint that is over. Without this method an empty hint stays. */
  remove?(key: string): Promise<void>;
  /**
   * Gives the time after which the store removes by itself what was written, ms; undefined: never. It is asked once,
   * before the first lock. Every lease must be shorter.
   */
  keeps?(): Promise<number | undefined>;
  /** Tells what else endangers locks there. */
  check?(): Promise<Finding[]>;
  /** Ends what the store opened. */
  close?(): Promise<void>;
}
