/**
 * The contract between holdfast and an engine. Only `core` waits, retries, renews, counts time, gives up and cleans up;
 * a backend translates. The laws, which `holdfast/testing` checks against every backend:
 *
 * - The same id keeps the same token while it lives. A released id is never attempted again.
 * - A thrown `LockError` is definite: refused for good, without effect. Any other throw means the outcome is unknown; core
 *   settles it by `release`, or by attempting again with the same id.
 * - `renew` sets the hold to expire `ttl` from now. It never revives a hold. Nothing else makes a hold expire sooner: a repeated attempt may
 *   be an old message, so it does not shorten what was confirmed.
 * - Only durations cross the contract, and only the engine's clock compares times.
 * - A hold expires `ttl` after its last attempt or renewal, or later. A place in the queue may expire `placeTtlOf(claim)` after its last
 *   attempt; core attempts at least three times in that.
 * - Without `queue` a refusal leaves nothing behind. `lost` never fires for a hold that is still good.
 * - Each step that removes a claim (release, expiry, eviction) admits the claims that the rule (`admission.ts`) now admits.
 * - Only a hold stores a value, in the step that frees it. It answers each claim of the key that accepts it, until it is over or a later
 *   hold stores another one; nothing else removes it but `forget`. It appears in nothing but such answers.
 * - Wakes may be spurious and are never needed: core sets a timer beside every watch. A wake that brings a grant brings the same grant an
 *   attempt would have brought.
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

/**
 * What an engine has to do: four calls. Each is bounded by the core, and may be repeated. The calls of `Refinements` make it better, one
 * by one.
 */
export interface Backend extends Refinements {
  /** The name of the engine in messages and events, such as `redis`. */
  readonly name: string;
  /** What this engine can do, as data. */
  readonly traits: Traits;
  /** Takes the hold or, if `queue`, takes or keeps a place. Repeating it is harmless and a sign of life. */
  attempt(claim: Claim): Promise<Attempt>;
  /** Gives an answer per claim, in order, so that one dead node does not make every hold unknown. */
  renew(claims: readonly Claim[]): Promise<Renewal[]>;
  /**
   * Gives up the hold or the place; in the same step, if the engine can, the next waiter of this process takes its place. A hold stores the
   * value `leave` in that step, where the engine has `values`; where it is gone, nothing is stored.
   */
  release(handle: Handle, next?: Claim, leave?: NewValue): Promise<Release>;
  /** Ends the connections and timers of the backend. The client that it was given stays open. */
  close(): Promise<void>;
}

/** Calls that an engine may leave out. The core does without each of them, and says what is missing where a user asks for it. */
export interface Refinements {
  // For callers.
  /**
   * A waiter is woken when it is its turn, and does not have to ask again and again. From the moment at which it returns or resolves, no
   * admission of the claim is missed. It returns a promise only if it has to ask the server. Then, and where the trait `wakes` is
   * `watch`, core attempts once more. Where it is `buffered`, an engine that may have missed something wakes the claim at once.
   * @param age ms since the last attempt was sent; undefined if none was
   */
  watch?(claim: Claim, wake: Wake, age?: number): AsyncDisposable | Promise<AsyncDisposable>;
  /**
   * An evicted holder is notified at once, and not only at its next renewal. Core calls it for a hold that has lasted for a while, and renews the
   * hold after each wake: the answer counts. It returns a promise only if it has to ask the server; core renews once more when that resolves.
   * Otherwise an engine that may have missed something wakes at once. Where the grant has `lost`, that may abort instead of a wake.
   * @param age ms since the last request was sent that confirmed the hold
   */
  watchHold?(claim: Claim, wake: () => void, age: number): AsyncDisposable | Promise<AsyncDisposable>;
  /**
   * An observer of leaders, which has no claim, finds out about a new leader at once. It calls `tell` once: when a claim has joined or left
   * the queue of a key, or when it can no longer tell. From the moment at which it returns or resolves, no such change is missed.
   */
  changed?(key: string, tell: () => void): AsyncDisposable | Promise<AsyncDisposable>;
  /** Adaptive leases, and forced releases that say why: the engine keeps short texts for all processes. */
  readonly hints?: Hints;
  /** Memos: a hold stores a value under its key that answers all waiting and later callers. `traits.values` says how long it may be. */
  readonly values?: Values;

  // For operators.
  /**
   * Locks can be listed, and deadlocks and holders can be seen. Core waits a few seconds for each entry or progress, and as long as it
   * takes for all of them.
   */
  inspect?(prefix: string, listing?: Listing): AsyncIterable<QueueEntry>;
  /** Locks can be released by force. This removes the claim with this token, of any process. */
  evict?(key: string, token: bigint): Promise<boolean>;
  /** `holdfast check` says what endangers locks on this server. */
  check?(): Promise<Finding[]>;

  // For a client that has no connection to give, or none any more.
  /** An error says why a request may not even have been sent, as an end of a sentence: `all 10 connections … are in use`. */
  obstacle?(): string | undefined;
  /** Whether the given client is closed for good, so that core stops to ask: nothing will ever be answered. */
  ended?(): boolean;

  // For a quorum of such engines.
  /** A restart is noticed. It names this run of the server (at once, if known): the next run may have forgotten grants. */
  incarnation?(): string | Run | Promise<string | Run>;
}

/** The name under which the engine knows a claim. */
export interface Handle {
  /** The key of the lock: 1 to 512 bytes. */
  readonly key: string;
  /**
   * At least 128 random bits, new for every request. It names the place in the queue and later the hold. A process that knows it may release.
   */
  readonly id: string;
}

/** One request to hold one key. */
export interface Claim extends Handle, Demand {
  /** The hold expires after this many ms without a sign of life. */
  readonly ttl: number;
  /** Whether a refused claim keeps a place in the queue; if not, it leaves nothing behind. */
  readonly queue: boolean;
  /** The number of tokens in a row to reserve for hand-overs inside the process: 1 to 1,024. */
  readonly tokenCount: number;
  /** The engine must refuse this attempt this many ms after it was sent, so that a late message takes no hold that nobody knows of. */
  readonly within: number;
  /**
   * The token may not be lower than this (a quorum's proposal). A repeated attempt raises the token of an admitted claim to it, but never
   * moves it in the queue; an engine that cannot do that keeps the token it gave.
   */
  readonly minToken?: bigint;
  /** The hold must last its ttl even where the engine would free it when it notices that its process is dead (`minHold`). */
  readonly lingers?: boolean;
  /**
   * Its place in the queue may expire after this many ms without a sign of life, if that is not `PLACE_TTL_MS`. It is asked only of an engine whose
   * traits allow it: a waiter with much patience costs it less.
   */
  readonly placeTtl?: number;
  /** A value under the key is as good as the lock. It is asked only of an engine whose traits have `values`, of an exclusive claim. */
  readonly accepts?: ValueCondition;
  /**
   * Text for people, followed by the origin of the claim (`origin.ts`). `inspect` gives it back as it is: well-formed text of up to 896
   * bytes.
   */
  readonly label: string;
}

/** The yes of an engine. */
export interface Grant {
  /** What a refusal does not have. */
  readonly granted: true;
  /** The fencing token: it grows with every exclusive grant of the key. */
  readonly token: bigint;
  /** The number of tokens in a row that this hold has, from this one on, if they are fewer than were asked for. */
  readonly tokenCount?: number;
  /** The hold is good for this many ms from the *sending* of the attempt; Infinity if a session carries it. */
  readonly validFor: number;
  /** For a claim that counts: the number of holds that began since a value was last stored, this one included. */
  readonly attempts?: number;
  /** It aborts as soon as the backend knows that the hold is gone. */
  readonly lost?: AbortSignal;
}
/**
 * `retryAfter`: ms until the earliest expiry ahead, or until it is worth asking again where nobody is woken. `late`: the request came after
 * `within`; the time of the engine is known now, so ask again. `value`: it answers the claim, which stands in the queue no more. `mark`: that of
 * the hold at the head, if that counts, for a claim that a value may answer; else `NO_MARK`.
 */
export type Refusal = {
  readonly granted: false;
  readonly ahead?: number;
  readonly retryAfter?: number;
  readonly late?: true;
  readonly value?: StoredValue;
  readonly mark?: string;
};
/**
 * Notifies a waiting claim that it may be its turn. The call may bring the grant or a stored value. If the value
 * answers the claim, core withdraws the claim.
 */
export type Wake = (grant?: Grant, left?: StoredValue) => void;

/** The answer to an attempt. If no answer comes, that is an error instead. */
export type Attempt = Grant | Refusal;
/**
 * The answer to a renewal: the hold lasts for this many ms from the request, or the reason why it does not. `kept`: why the engine refused
 * to set that ttl; the lease that it had before goes on.
 */
export type Renewal = { readonly validFor: number; readonly kept?: LockError } | 'gone' | 'unknown';
/**
 * `freed`: there was a hold or a place. `next`: what became of the next claim, where the engine took both in one step. `stored`: a value was
 * stored, too.
 */
export type Release = { readonly freed: boolean; readonly next?: Attempt; readonly stored?: boolean };

/** One run of a server. */
export interface Run {
  readonly id: string;
  /**
   * The run had lasted at least this many ms when it was first read. Undefined means that a process that comes later cannot see a restart.
   */
  readonly age?: number;
  /** Whether acknowledged writes survive its end, also a power failure. */
  readonly durable?: boolean;
}
