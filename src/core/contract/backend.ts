/**
 * The contract between holdfast and an engine. Only `core` waits, retries, renews, counts time, gives up and cleans up;
 * a backend translates. The laws, which `holdfast/testing` checks against every backend:
 *
 * - Same id, same ticket, while it lives. An id once released is never attempted again.
 * - A thrown `LockError` is definite: refused for good, without effect. Any other throw means the outcome is unknown; core
 *   settles it by `release`, or by attempting again with the same id.
 * - `renew` sets the hold to lapse `ttl` from now. It never revives: gone stays gone. Nothing else makes a hold lapse sooner: an
 *   attempt again, which may be an old message, leaves it what was confirmed.
 * - Only durations cross the contract, and only the engine's clock compares times.
 * - A hold lapses `ttl` after its last attempt or renewal, or later. A place in line may lapse `placeTtlOf(claim)` after its last
 *   attempt; core attempts at least three times in that.
 * - Without `queue` nothing is left behind by a refusal. `lost` never fires for a hold that is still good.
 * - Whatever removes a claim (release, lapse, eviction) admits whomever the rule (`admission.ts`) now admits.
 * - Wakes may be spurious and are never needed: beside every watch stands a timer of core's. A wake that brings a grant
 *   brings the same grant an attempt would have brought.
 */

import type { Seats } from './admission.ts';
import type { LockError } from './errors.ts';
import type { Finding } from './finding.ts';
import { type Listing, LONGEST_PLACE_TTL, type Notes, PLACE_TTL, type Standing, type Traits } from './traits.ts';

export type { Finding } from './finding.ts';
export type { Listing, Notes, Standing, Traits } from './traits.ts';
export { LONGEST_PLACE_TTL, PLACE_TTL };

/**
 * What an engine has to do: four calls. Each is bounded by the core, and may be repeated. The calls of `Refinements` make it better, one
 * by one.
 */
export interface Backend extends Refinements {
  /** For messages and events: which engine it is, such as `redis`. */
  readonly name: string;
  /** What this engine can do, as data. */
  readonly traits: Traits;
  /** Takes the hold or, if `queue`, takes or keeps a place. Repeating it is harmless and a sign of life. */
  attempt(claim: Claim): Promise<Attempt>;
  /** An answer per claim, in order, so that one dead node does not make every hold unknown. */
  renew(claims: readonly Claim[]): Promise<Renewal[]>;
  /** Gives up the hold or the place; in the same step, where the engine can, the process's next waiter takes its place. */
  release(handle: Handle, next?: Claim): Promise<Release>;
  /** Ends what is ours (connections, timers). The client given to us stays open. */
  close(): Promise<void>;
}

/** Calls that an engine may leave out. The core does without each of them, and says what is missing where a user asks for it. */
export interface Refinements {
  // For callers.
  /**
   * A waiter hears of its turn at once, and does not have to ask again and again. From when this is there no admission of the claim goes
   * unheard. At once, not by a promise, where arming is free now.
   */
  watch?(claim: Claim, wake: (grant?: Grant) => void): AsyncDisposable | Promise<AsyncDisposable>;
  /**
   * An observer of leaders, who has no claim, hears of a new one at once. It tells once: when somebody has come to the line of a key or
   * left it, or when it can no longer tell. From when this is there no such change goes untold.
   */
  changed?(key: string, tell: () => void): AsyncDisposable | Promise<AsyncDisposable>;
  /** Adaptive leases: the engine keeps a few words for all processes. */
  readonly notes?: Notes;

  // For operators.
  /**
   * Locks can be listed, and deadlocks and holders be seen. Core waits a few seconds for each standing or progress, and as long as it
   * takes for all of them.
   */
  inspect?(prefix: string, listing?: Listing): AsyncIterable<Standing>;
  /** Locks can be released by force: the claim with this ticket, whoever holds it. */
  evict?(key: string, ticket: bigint): Promise<boolean>;
  /** `holdfast check` says what endangers locks on this server. */
  check?(): Promise<Finding[]>;

  // For a client that has no connection to give, or none any more.
  /** An error says why a request may not even have been sent, as an end of a sentence: `all 10 connections … are in use`. */
  obstacle?(): string | undefined;
  /** Core stops asking once the given client is closed for good: nothing will ever be answered. */
  ended?(): boolean;

  // For a quorum of such engines.
  /** A restart is noticed. It names this run of the server: another may have forgotten what the last one granted. At once where known. */
  incarnation?(): string | Run | Promise<string | Run>;
}

/** What a claim is known by to the engine. */
export interface Handle {
  /** The key of the lock: 1 to 512 bytes. */
  readonly key: string;
  /** At least 128 random bits, made anew for every request. It names the place in line and the hold alike; who knows it may release. */
  readonly id: string;
}

/** One request to hold one key. */
export interface Claim extends Handle, Seats {
  /** ms without a sign of life after which the hold lapses. */
  readonly ttl: number;
  /** Keep a place in line when refused, or leave nothing behind. */
  readonly queue: boolean;
  /** How many tickets in a row to reserve for hand-offs inside the process: 1 to 1,024. */
  readonly span: number;
  /** ms from sending after which the engine must refuse this attempt, so that a late message makes no ghost. */
  readonly within: number;
  /**
   * The ticket may not be lower than this (a quorum's proposal). An attempt again raises the ticket of a claim that is still
   * admitted to it, never its place in line; an engine that cannot do that keeps the ticket it gave.
   */
  readonly atLeast?: bigint;
  /** The hold must last its ttl even where the engine would free it when it notices that its process is dead (`minHold`). */
  readonly lingers?: boolean;
  /**
   * ms without a sign of life after which its place in line may lapse, if not `PLACE_TTL`. Asked only of an engine whose traits
   * allow it: a waiter with much patience costs it less.
   */
  readonly placeTtl?: number;
  /**
   * Words for people, and behind them whose the claim is (`origin.ts`). `inspect` gives it back as it is: well-formed text of up to
   * 896 bytes.
   */
  readonly label: string;
}

/**
 * ms without an attempt after which the place of a claim may lapse.
 * @example placeTtlOf({ ttl: 30_000 }) === PLACE_TTL; // a place dies sooner than a hold
 */
export const placeTtlOf = ({ ttl, placeTtl = PLACE_TTL }: Pick<Claim, 'ttl' | 'placeTtl'>): number =>
  Math.min(ttl, placeTtl);

/** The yes of an engine. */
export interface Grant {
  /** Tells it from a `Refusal`. */
  readonly granted: true;
  /** Grows with every exclusive grant of the key: the fencing token. */
  readonly ticket: bigint;
  /** Tickets in a row from this one on that are this hold's, where they are fewer than were asked for. */
  readonly span?: number;
  /** ms from the *sending* of the attempt that the hold is good for; Infinity where a session carries it. */
  readonly validFor: number;
  /** Aborted as soon as the backend knows that the hold is gone. */
  readonly lost?: AbortSignal;
}
/**
 * `retryAfter`: ms until the earliest lapse ahead, or until it is worth asking again where nobody is woken. `late`: came after
 * `within`; the engine's time is known now, ask again.
 */
export type Refusal = {
  readonly granted: false;
  readonly ahead?: number;
  readonly retryAfter?: number;
  readonly late?: true;
};
/** What an attempt came to; an answer that never came is an error instead. */
export type Attempt = Grant | Refusal;
/**
 * What a renewal came to: the ms for which the hold lasts from when it was asked, or why it does not. `kept`: why the engine
 * refused to set that ttl; the lease that it had before goes on.
 */
export type Renewal = { readonly validFor: number; readonly kept?: LockError } | 'gone' | 'unknown';
/** `freed`: there was a hold or a place. `next`: what became of the next claim, where the engine took both in one step. */
export type Release = { readonly freed: boolean; readonly next?: Attempt };

/** One run of a server. */
export interface Run {
  readonly id: string;
  /** ms that it had lasted, at least, when it was first told. Undefined: nobody who comes later can see that it started anew. */
  readonly age?: number;
  /** What it acknowledges outlives it, a power failure too. */
  readonly durable?: boolean;
}
