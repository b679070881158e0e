/**
 * The contract between holdfast and an engine. Only `core` waits, retries, renews, counts time, gives up and cleans up;
 * a backend translates. The laws, which `holdfast/testing` checks against every backend:
 *
 * - The same id keeps the same token while its claim lives. A released id is never attempted again.
 * - A thrown `LockError` is definite: the engine refused for good, and changed nothing. Any other error means that the outcome is unknown; core then
 *   releases, or attempts again with the same id.
 * - `renew` sets the hold to expire `ttl` from now. It never revives a hold. No other call makes a hold expire sooner: a repeated attempt may be an
 *   old message, so it shortens no confirmed lease.
 * - Only durations cross the contract, and only the engine's clock compares times.
 * - A hold expires `ttl` after its last attempt or renewal, or later. A place in the queue may expire `placeTtlOf(claim)` after its last attempt;
 *   core attempts at least three times in that time.
 * - If `queue` is false, a refusal leaves nothing on the engine. The signal `lost` never aborts for a hold that is still good.
 * - Each step that removes a claim (release, expiry, eviction) admits the claims that the rule (`admission.ts`) now admits.
 * - Only a hold stores a value, in the step that releases the hold. The value answers each claim of the key that accepts it, until the ttl of the
 *   value is over, a later hold stores another value, or `forget` removes the value. Only such answers and `look` show a value.
 * - Wakes may be spurious and are never needed: core sets a timer beside every watch. A wake that brings a grant brings the same grant an
 *   attempt would have brought. After a wake that brings nothing, as after an eviction, grants of that watch do not count.
 */

import type { Demand } from './admission.ts';
import type { LockError } from './errors.ts';
import type { Finding } from './finding.ts';
import { type Hints, type Listing, MAX_PLACE_TTL_MS, PLACE_TTL_MS, type QueueEntry, type Traits } from './traits.ts';
import type { NewValue, StoredValue, ValueCondition, Values } from './values.ts';

export type { Finding } from './finding.ts';
export type { Hints, Listing, QueueEntry, Traits } from './traits.ts';
export type { NewValue, StoredValue, ValueCondition, ValueRecord, ValueState, Values } from './values.ts';
export { MAX_PLACE_TTL_MS, PLACE_TTL_MS };

/** What an engine has to do: four calls. Core limits the time of each, and may repeat it. Each call of `Refinements` adds a feature. */
export interface Backend extends Refinements {
  /** The name of the engine in messages and events, such as `redis`. */
  readonly name: string;
  /** What this engine can do, as data. */
  readonly traits: Traits;
  /** Takes the hold or, if `queue` is set, takes or keeps a place. A repeated attempt is harmless, and a sign of life. */
  attempt(claim: Claim): Promise<Attempt>;
  /** Renews holds. It gives an answer per claim, in order: one dead node must not make all answers `unknown`. */
  renew(claims: readonly Claim[]): Promise<Renewal[]>;
  /** Gives up the hold or the place. In the same step, if the engine can, the claim `next` of this process is attempted. */
  release(handle: Handle, next?: Claim): Promise<Release>;
  /** Ends the connections and timers of the backend. The client that it was given stays open. */
  close(): Promise<void>;
}

/** Calls that an engine may leave out. If a user asks for a feature that needs one, the error says so. */
export interface Refinements {
  // For callers.
  /**
   * Wakes a waiter when its turn comes, so that it need not ask again and again. Once the call returns or resolves, no admission of the claim is
   * missed. It returns a promise only if it has to ask the server. Core attempts once more after such a promise, and on all engines whose
   * `traits.wakes` is `watch`. An engine whose `traits.wakes` is `buffered` wakes the claim at once if it may have missed an admission.
   * @param age ms since the last attempt was sent; undefined if none was
   */
  watch?(claim: Claim, wake: Wake, age?: number): AsyncDisposable | Promise<AsyncDisposable>;
  /**
   * Notifies an evicted holder at once, and not only at its next renewal. Core calls this when a hold has lasted for a while. After each wake core
   * renews the hold: only the answer to the renewal counts. The call returns a promise only if it has to ask the server; core renews once more when the
   * promise resolves. Without a promise, an engine that may have missed an eviction wakes at once. Instead of a wake, `lost` of the grant may abort.
   * @param age ms since the last request was sent that confirmed the hold
   */
  watchHold?(claim: Claim, wake: () => void, age: number): AsyncDisposable | Promise<AsyncDisposable>;
  /**
   * Notifies an observer of leaders, which has no claim, of a new leader at once. The engine calls `tell` once: when a claim has joined or left the
   * queue of the key, or when the watch has ended. Once `changed` returns or resolves, no such change is missed.
   */
  changed?(key: string, tell: () => void): AsyncDisposable | Promise<AsyncDisposable>;
  /** Short texts for all processes: for adaptive leases, and the reasons of forced releases. */
  readonly hints?: Hints;
  /** For memos: a hold stores a value under its key, which answers all waiting and later callers. `traits.values` limits its bytes. */
  readonly values?: Values;
  /** Releases a hold and stores a value in the same step; an engine with `values` has this call. @returns false if the hold is gone: nothing is stored */
  store?(handle: Handle, value: NewValue): Promise<boolean>;

  // For operators.
  /** Lists claims. Core waits a few seconds for each entry or call of `progress`; the whole listing may take any time. */
  inspect?(prefix: string, listing?: Listing): AsyncIterable<QueueEntry>;
  /** Removes the claim with this token, of any process: for a forced release. */
  evict?(key: string, token: bigint): Promise<boolean>;
  /** Finds what endangers locks on this server: for `holdfast check`. */
  check?(): Promise<Finding[]>;

  // For a client whose connections are all in use, or closed.
  /** Says why a request may not even have been sent, as the end of an error message: `all 10 connections … are in use`. */
  obstacle?(): string | undefined;
  /** Whether the client is closed for good: core stops asking, since no answer will come. */
  ended?(): boolean;

  // For a quorum of such engines.
  /** Names this run of the server (at once, if known), so that the quorum notices a restart, which may lose grants. */
  incarnation?(): string | Run | Promise<string | Run>;
}

/** The name under which the engine knows a claim. */
export interface Handle {
  /** The key of the lock: 1 to 512 bytes. */
  readonly key: string;
  /** At least 128 random bits, new for every request. It names the place in the queue and later the hold. A process that knows the id may release. */
  readonly id: string;
}

/** One request to hold one key. */
export interface Claim extends Handle, Demand {
  /** The hold expires after this many ms without a sign of life. */
  readonly ttl: number;
  /** Whether a refused claim keeps a place in the queue; if not, the claim leaves nothing behind. */
  readonly queue: boolean;
  /** The number of tokens in a row to reserve for hand-overs inside the process: 1 to 1,024. */
  readonly tokenCount: number;
  /** The engine must refuse the attempt this many ms after it was sent. Otherwise a late message could take a hold that no process knows of. */
  readonly within: number;
  /**
   * The lowest token that the engine may give (a quorum proposes it). A repeated attempt raises the token of an admitted claim to this one, but never
   * moves the claim in the queue; an engine that cannot raise a token keeps the old one.
   */
  readonly minToken?: bigint;
  /** The hold must last its ttl, even if the engine notices earlier that the process of the claim is dead. Set for `minHold` and `delay`. */
  readonly lingers?: boolean;
  /**
   * The place in the queue may expire after this many ms without a sign of life. Default `PLACE_TTL_MS`. Core sets this only where the traits of the
   * engine allow it: a waiter that asks less often costs less.
   */
  readonly placeTtl?: number;
  /** Which value under the key answers the claim instead of a grant. Core sets this only for exclusive claims, on engines with the trait `values`. */
  readonly accepts?: ValueCondition;
  /** Text for people, followed by the origin of the claim (`origin.ts`). `inspect` gives it back unchanged. Well-formed text of up to 896 bytes. */
  readonly label: string;
}

/** The yes of an engine. */
export interface Grant {
  /** True for a grant, false for a refusal. */
  readonly granted: true;
  /** The fencing token: it grows with every exclusive grant of the key. */
  readonly token: bigint;
  /** The number of tokens in a row that this hold has, `token` included, if they are fewer than the claim asked for. */
  readonly tokenCount?: number;
  /** The hold is good for this many ms from the *sending* of the attempt; Infinity if a session carries it. */
  readonly validFor: number;
  /** If `accepts.counts` is above 0: the number of holds, with this one, that began since a value was last stored. */
  readonly attempts?: number;
  /** It aborts as soon as the backend knows that the hold is gone. */
  readonly lost?: AbortSignal;
}
/**
 * `ahead`: the number of claims before this one. `retryAfter`: ms until the earliest expiry ahead or, if the engine wakes no waiter, until it is
 * worth asking again. `late`: the attempt came after `within`; the engine's time is known now, so ask again. `value`: the answer to the claim, which
 * has left the queue. `mark`: for a claim that a value may answer, the mark of the hold at the head if that hold counts, else `NO_MARK`.
 */
export type Refusal = {
  readonly granted: false;
  readonly ahead?: number;
  readonly retryAfter?: number;
  readonly late?: true;
  readonly value?: StoredValue;
  readonly mark?: string;
};
/** Notifies a waiting claim that it may be its turn, and may bring the grant or a stored value. If the value answers the claim, core withdraws it. */
export type Wake = (grant?: Grant, left?: StoredValue) => void;

/** The answer to an attempt. If no answer comes, the attempt throws instead. */
export type Attempt = Grant | Refusal;
/**
 * The answer to a renewal. `validFor`: the hold lasts for this many ms from the request. `kept`: why the engine refused to set that ttl; the earlier
 * lease goes on. `gone`: the hold is over.
 */
export type Renewal = { readonly validFor: number; readonly kept?: LockError } | 'gone' | 'unknown';
/** `freed`: there was a hold or a place. `next`: the answer to the claim `next`, if attempted in the same step. */
export type Release = { readonly freed: boolean; readonly next?: Attempt };

/** One run of a server. */
export interface Run {
  readonly id: string;
  /** The run had lasted at least this many ms when it was first read. Undefined: a process that starts after a restart cannot notice it. */
  readonly age?: number;
  /** Whether acknowledged writes survive the end of the run, even an end by a power failure. */
  readonly durable?: boolean;
}
