import type { Attempt, Claim, ValueCondition } from './backend.ts';
import { type Bounds, type Duration, milliseconds } from './duration.ts';
import { LockError, shown } from './errors.ts';
import { PLACE_TTL_MS, type Traits } from './traits.ts';
import type { ValueState } from './values.ts';

/** The times that follow from the options and the engine, ms. They are the same for all requests of the same terms. */
export interface Lengths {
  /** The lease that the holder counts on: at least `minHold`, so that also a crash does not free the key earlier. */
  readonly lease: number;
  /** The ttl that the engine is asked for: the lease plus `delay`, so that after the deadline nobody gets the key before `delay` is over. */
  readonly hold: number;
  /** The ttl of a claim that waits. */
  readonly waiter: number;
  /** The time after which the place of a claim that waits may expire; undefined: `PLACE_TTL_MS`. */
  readonly place: number | undefined;
}

/** A hold that the caller of a request has, as the request sees it. */
export interface EnclosingHold {
  readonly listeners: {
    /** Notes that a caller which has this hold begins to wait for another hold. @returns a function that notes the end of the wait */
    beginWait(): () => void;
  };
  /**
   * A claim that waits inside this hold names the hold by this number and key, also if it is a claim of other `Locks`. If those use another server, a
   * search for deadlocks there finds no claim with this number under the key.
   */
  readonly claim: { readonly origin: { readonly claim: number }; readonly key: string };
}

/** What a memo adds to a request, since a value under the key may settle the request. */
export interface Inquiry {
  /** Says which values the claim accepts in an attempt. @param sent when the attempt is sent */
  accepts(sent: number): ValueCondition;
  /**
   * Receives each answer of the engine.
   * @param sent when the attempt was sent
   * @returns true when a value has settled the request, so that it needs no hold any more
   * @throws LockError the error for the caller
   */
  settles(attempt: Attempt, sent: number): boolean;
  /** The state of the value that has settled the request. */
  readonly state: ValueState | undefined;
}

/** The terms of a request: the options after the checks. Every duration is in ms, and every default is filled in. */
export interface Terms {
  readonly wait: number;
  /** Whether the caller gave no `wait`. Then the error of a timeout says so. */
  readonly isDefaultWait: boolean;
  readonly ttl: number;
  readonly renew: boolean;
  readonly maxHold: number;
  readonly minHold: number;
  readonly delay: number;
  readonly notice: number;
  readonly adaptive: { readonly group: string | undefined; readonly cap: number } | undefined;
  readonly spin: { readonly pause: number; readonly jitter: number; readonly bound: number };
  readonly signal: AbortSignal | undefined;
  readonly label: string;
  readonly awaitRelease: boolean;
  readonly handOff: { readonly max: number; readonly within: number; readonly linger: number };
  readonly reentrant: boolean;
  readonly onLoss: 'tell' | 'throw';
  readonly detect: boolean;
  readonly lengths: Lengths;
  /** The number that the events of all parts of one `all()` share. */
  readonly all?: number;
  /** The earlier parts of `all()`: holds that the same caller has already, and releases together with this one. */
  readonly beside?: readonly EnclosingHold[];
  /** Set for a memo. */
  readonly inquiry?: Inquiry;
}

/** Gives the terms with the rest of the wait. The rest is at least 1 ms, since a request with a wait of 0 does not wait at all. */
export const withWaitUntil = (terms: Terms, until: number, now: number): Terms =>
  terms.wait === 0 ? terms : { ...terms, wait: Math.max(1, Math.ceil(until - now)) };

/** The shortest lease, ms: for a shorter one `deadlineOf` gives a time that has passed. */
const MIN_LEASE_MS = 3;

/** Gives the bounds of a lease, ms. @param delay the time for which the key stays taken after the lease */
export const leaseBounds = ({ ttl }: Traits, delay: number): Bounds => ({
  ...ttl,
  min: Math.max(ttl.min, MIN_LEASE_MS),
  max: ttl.max - delay,
});

/** The longest `delay`, ms. */
const MAX_DELAY_MS = 60_000;

/**
 * Checks `delay`, the time for which the key stays taken after a hold has expired, ms. Core asks the engine for a ttl that is longer by `delay`. If a
 * session carries the hold, the holder instead counts on a time that is shorter by `delay`, which may be at most half of `sessionGrace`.
 * @throws LockError `LOCK_INVALID`; `LOCK_UNSUPPORTED` where a hold ends with the connection of its process, or where other programs hold keys, too
 */
export function checkDelay(given: Duration, { lifetime, sessionGrace = 0, ttl, hasStrangers = false }: Traits): number {
  const leased = lifetime === 'lease';
  const max = Math.min(MAX_DELAY_MS, leased || sessionGrace === 0 ? ttl.max - ttl.min : Math.floor(sessionGrace / 2));
  const delay = milliseconds(given, 'delay', { min: 0, max });
  if (delay === 0 || (!hasStrangers && (leased || sessionGrace > 0))) return delay;
  const why = hasStrangers
    ? 'locks of other programs are free as soon as they expire: share the lock only among holdfast'
    : 'a lock is free as soon as the connection of its holder ends: use an engine with leases';
  throw new LockError('LOCK_UNSUPPORTED', `delay is ${shown(given)}, and ${why}, or leave delay out`);
}

export const leaseLength = ({ ttl, minHold }: Pick<Terms, 'ttl' | 'minHold'>): number => Math.max(ttl, minHold);

export function lengthsFor(options: Pick<Terms, 'ttl' | 'minHold' | 'delay' | 'spin'>, traits: Traits): Lengths {
  const lease = leaseLength(options);
  const hold = lease + options.delay;
  const place = traits.fair ? placeTtlFor(options.spin, traits) : undefined;
  const woken = traits.fair && traits.lifetime === 'lease' && traits.wakes !== 'never';
  const waiter = woken ? Math.min(hold + waiterMargin({ ttl: hold, placeTtl: place }), traits.ttl.max) : hold;
  return { lease, hold, waiter, place };
}

/**
 * Gives the time after which the place of a claim may expire without an attempt, ms.
 * @example placeTtlOf({ ttl: 30_000 }) === PLACE_TTL_MS; // a place expires sooner than a hold
 */
export const placeTtlOf = ({ ttl, placeTtl = PLACE_TTL_MS }: Pick<Claim, 'ttl' | 'placeTtl'>): number =>
  Math.min(ttl, placeTtl);

/** The longest time between two signs of life of a place, ms: a third of the time to its expiry. A waiter asks so often even if a watch is armed. */
export const signOfLife = (claim: Pick<Claim, 'ttl' | 'placeTtl'>): number => placeTtlOf(claim) / 3;

/** Gives the `placeTtl` of a waiter that asks only every `spin.bound`, if the engine allows it; undefined: `PLACE_TTL_MS`. */
export function placeTtlFor(
  { bound }: Pick<Terms['spin'], 'bound'>,
  { placeTtl = PLACE_TTL_MS }: Traits,
): number | undefined {
  const wanted = Math.min(3 * bound, placeTtl);
  return wanted > PLACE_TTL_MS ? wanted : undefined;
}

/**
 * Gives how much longer than its lease the claim of a waiter has to last, ms. The waiter cannot know when the engine admitted it, so it counts the
 * lease from its last answered sign of life. Until it gets the grant, this much time may pass: a pause, a late timer, the travel time of the next
 * sign of life, and the difference of the clocks.
 */
export const waiterMargin = (claim: Pick<Claim, 'ttl' | 'placeTtl'>): number =>
  Math.ceil(1.25 * signOfLife(claim)) + 25;
