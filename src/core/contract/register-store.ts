import type { Traits } from './backend.ts';
import { invalid, shown } from './errors.ts';
import type { Finding } from './finding.ts';

/** What a store has under a key. */
export interface RegisterEntry {
  /** Undefined: nothing is there. */
  readonly text?: string | undefined;
  /**
   * A text that changes with every write of the key and never comes twice, not even after the key was removed: an ETag, a revision of the whole
   * store, a random id. It is only compared.
   */
  readonly version?: string | undefined;
  /** The time of this read by the store's clock, ms; with `tellsTime`. */
  readonly now?: number;
}

/**
 * The result of a write. `false`: another client wrote first, so nothing was written. An entry: as `false`, with the entry that is there now. A
 * string: the write succeeded, and the string is the new version, which saves the next step a read. `true`: it succeeded, and there is no version.
 */
export type Written = boolean | string | RegisterEntry;

/** What became of a write. */
export interface WriteOutcome {
  readonly taken: boolean;
  /** The new version, where the store gives it. */
  readonly version?: string;
  /** The entry that is there instead, where the store gives it. */
  readonly found?: RegisterEntry;
}

/**
 * Only this function decides whether a store took a write. A driver may give any value for a row that it did not change. If such a value counted as
 * success, two claims would hold the key.
 * @throws LockError `LOCK_INVALID` for an answer that the contract does not allow
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
 * Checks the result of a read. A driver may give null if nothing is there.
 * @throws LockError `LOCK_INVALID` for an answer that the contract does not allow
 */
export function readEntry(
  entry: RegisterEntry | null | undefined,
  { name, tellsTime }: Pick<RegisterStore, 'name' | 'tellsTime'>,
): RegisterEntry {
  const isTimed = !tellsTime || Number.isFinite(entry?.now);
  if (isTimed && (entry === undefined || entry === null)) return {};
  if (isTimed && isEntry(entry)) return entry;
  const wanted = tellsTime
    ? 'now, the time of the store in ms, and a text and its version, both strings, where something is there'
    : 'a text and its version, both strings, or undefined where nothing is there';
  throw invalid(`read() of the store ${name} gave ${shown(entry)}; it has to give ${wanted}`);
}

function isEntry(entry: unknown): entry is RegisterEntry {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return false;
  const { text, version, now: _, ...others } = entry as RegisterEntry;
  if (typeof text === 'string') return typeof version === 'string';
  // A driver's own result has neither text nor version, but other fields: to take it for an empty entry would be a guess.
  const isPlain = Object.prototype.toString.call(entry) === '[object Object]' && Object.keys(others).length === 0;
  return isPlain && text === undefined && (version === undefined || typeof version === 'string');
}

/**
 * A store that can compare and set: all that a lock needs. If it throws a `LockError`, nothing was done; after any other error, the outcome is
 * unknown. Keys have the characters `A-Z a-z 0-9 _ - = / .`, and at most 650 of them.
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
  /** The pauses of a waiter, ms, for a store where each request costs money. Default: the usual pauses. */
  readonly spin?: Traits['spin'];
  /** Other servers imitate its protocol, and some check and write in two steps: so the test before the first lock also races writes. Default false. */
  readonly imitated?: boolean;
  /**
   * A refused write gives the entry that is there. So the first step for a key is a write, without a read before it, unless the store tells the time.
   * Default false.
   */
  readonly tellsConflicts?: boolean;
  /** The store has one clock for all clients, and every read gives its time, also where nothing is: then claims expire by that clock. Default false. */
  readonly tellsTime?: boolean;
  /**
   * Reads what is there, or undefined. The result must not be older than what this client wrote or read before: a hold that is missing in it counts
   * as lost. It may lack writes of other clients: then the next write is refused.
   */
  read(key: string, signal: AbortSignal): Promise<RegisterEntry | undefined>;
  /** Writes in one step of the store, if the key still has the version `ifVersion`. An undefined `ifVersion` means: if nothing is there. */
  write(key: string, text: string, ifVersion: string | undefined, signal: AbortSignal): Promise<Written>;
  /** Calls `tell` at each write of the key, from when `watch` returns or resolves; with the entry, if the store has it. Extra calls do no harm. */
  watch?(key: string, tell: (entry?: RegisterEntry) => void): AsyncDisposable | Promise<AsyncDisposable>;
  /** Gives the keys that begin with `prefix`, in any order. Without it locks cannot be listed. */
  list?(prefix: string): AsyncIterable<string>;
  /** Removes the entry of a key: a hint that is over. Without this method an empty hint stays. */
  remove?(key: string): Promise<void>;
  /** Gives the ms after which the store removes an entry itself; undefined: never. Core asks once, before the first lock. Leases must be shorter. */
  keeps?(): Promise<number | undefined>;
  /** Finds what else endangers locks on the store. */
  check?(): Promise<Finding[]>;
  /** Ends what the store opened. */
  close?(): Promise<void>;
}
