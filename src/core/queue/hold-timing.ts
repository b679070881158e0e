import type { Handle } from '../contract/backend.ts';
import type { Terms } from '../contract/terms.ts';

/** The part of a lease that a holder counts on. The rest allows for clocks that run at different rates. */
const LEASE_PART = 0.99;
/** The time that a holder may lose by the rounding of both clocks, ms. */
const ROUNDING_MS = 2;
/** The part of the time between a renewal and the loss signal that the renewal may take. The rest is for a second try. */
const PATIENCE_PART = 0.6;
/** A renewal may take this many ms, though no second try may follow: a shorter limit would end calls that a healthy engine answers. */
const MIN_PATIENCE_MS = 50;

/**
 * Gives the deadline of a lease. It counts from before the request was sent, less a hundredth for clocks that run at different rates and 2
 * ms for their rounding (Gray and Cheriton, *Leases*, 1989).
 */
export const deadlineOf = (sent: number, validFor: number): number => sent + validFor * LEASE_PART - ROUNDING_MS;

/** Gives the `validFor` with which the deadline of a request that is sent now is no sooner than `until`, ms. */
export const validUntil = (until: number, now: number): number => (until - now + ROUNDING_MS) / LEASE_PART;

/** Gives the time that has surely passed by the clock of another machine while `ms` passed here, ms. */
export const passedFor = (ms: number): number => Math.max(0, ms * LEASE_PART - ROUNDING_MS);

/** Gives the `validFor` with which the deadline stays the same for a request that was sent `later` ms later. */
export const sentLater = (validFor: number, later: number): number => validFor - later / LEASE_PART;

/** A grant that this process counts on. The lease lasts `validFor` ms, from `sent` on. */
export interface LocalGrant {
  readonly token: bigint;
  /** As in `Grant`. */
  readonly tokenCount?: number | undefined;
  /** The time at which the request was sent: the lease of this grant counts from then. */
  readonly sent: number;
  /** The time at which this process began to count on the grant. */
  readonly since: number;
  readonly validFor: number;
  readonly lost?: AbortSignal | undefined;
  /** The time until which an unanswered attempt of this claim may still arrive, and set the lease that it asked for. */
  readonly lateUntil?: number;
  /** Whether the claim was refused first: then others want the key, too. */
  readonly contended?: boolean;
}

/** How long a hold is good, and when its next renewal is due. It has no clock: callers give the time. */
export class HoldTiming implements Schedule {
  /** The time at which this holder got the hold. */
  readonly since: number;
  readonly renewedUntil: number;
  /** Whether the hold may end without a release, since it is not renewed, or not for ever. */
  readonly mayExpire: boolean;
  ttl: number;
  deadline = 0;
  /** The time at which the loss signal is due. Where the engine confirms less than the lease, the notice is shorter in proportion. */
  noticeAt = 0;
  interval = 0;
  /** The time that a renewal may take, ms: a third of the lease; less with a long notice, to leave time for a second try. */
  patience = 0;
  sent = 0;
  /** The time for which the engine's last answer was good, ms: the ttl, or less if a session carries the hold. */
  confirmedFor = 0;
  /** The time at which the next renewal is due; Infinity if none is. */
  renewAt = 0;
  /** The renewal that is under way. Never rejects. Until its answer no other renewal is due. */
  renewing: Promise<unknown> | undefined;
  /** The error of the last renewal, if it failed and its error is known. */
  failure: unknown;
  /** The time until which an unanswered attempt may still arrive. If it arrives after a release, the engine has the hold again. */
  readonly lateUntil: number;
  /** The time until which the key stays taken, by `minHold`; 0 without `minHold`. */
  keptUntil: number;
  /** Whether nobody will want the key after `minHold`, as the key of a tick. Then no release waits to give it back. */
  isKeySpent = false;
  /** The engine's last confirmation that this hold counts on, which may be good for longer than the lease. */
  confirmation: Pick<LocalGrant, 'sent' | 'validFor'>;
  /** The stand-in that renews the hold while this thread cannot run, if there is one. */
  cover: Cover | undefined;
  readonly #terms: Terms;
  /** The end of a lease without `renew`. An engine with sessions confirms a shorter time again and again, but never beyond this end. */
  #leaseEnd: number;
  /** The shortest lease that an unanswered request may still set when it arrives, ms. */
  #doubt = Number.POSITIVE_INFINITY;

  constructor(grant: LocalGrant, terms: Terms, expires: boolean) {
    const { since: now, sent, validFor } = grant;
    this.#terms = terms;
    this.since = now;
    // A session confirms a shorter time than a single lease, so the engine is asked again until the lease is over.
    this.renewedUntil = terms.renew ? now + terms.maxHold : expires ? now : Number.POSITIVE_INFINITY;
    this.mayExpire = !terms.renew || terms.maxHold < Number.POSITIVE_INFINITY;
    this.ttl = terms.lengths.hold;
    this.keptUntil = terms.minHold > 0 ? now + terms.minHold : 0;
    this.lateUntil = grant.lateUntil ?? 0;
    if (this.lateUntil > 0) this.#doubt = this.ttl; // the attempt may arrive at any time: each node of a quorum refuses it by a time of its own
    this.confirmation = { sent, validFor };
    const usable = usableTime(validFor, Number.POSITIVE_INFINITY, terms);
    const lease = usableTime(this.ttl, this.ttl, terms);
    const full = deadlineOf(now, lease);
    const granted = deadlineOf(sent, usable);
    this.#leaseEnd = terms.renew ? Number.POSITIVE_INFINITY : full;
    // If the grant lasts longer than the lease, as the grant of a waiter may, the hold lasts for the lease, from now on. The next renewal makes it no
    // longer.
    const longer = granted > full && Math.min(granted, terms.maxHold) < Number.POSITIVE_INFINITY;
    this.#begin(longer ? now : sent, longer ? full : granted, Math.min(lease, usable), now);
  }

  /** Begins a lease that counts from `sent`. @param confirmedFor the time for which the engine's answer is good, ms */
  #begin(sent: number, deadline: number, confirmedFor: number, now: number): void {
    const { notice, lengths } = this.#terms;
    this.sent = sent;
    this.confirmedFor = confirmedFor;
    this.deadline = Math.min(deadline, this.#leaseEnd);
    this.noticeAt = this.deadline - notice * Math.min(1, confirmedFor / lengths.lease);
    const untilNotice = this.noticeAt - sent;
    this.interval = Math.min(confirmedFor / 3, untilNotice / 2);
    const leavesTime = PATIENCE_PART * (untilNotice - this.interval);
    this.patience = Math.min(confirmedFor / 3, Math.max(MIN_PATIENCE_MS, leavesTime));
    this.renewAt = !this.renewing && this.renews(now) ? sent + this.interval : Number.POSITIVE_INFINITY;
  }

  /** Makes the next renewal due now, if there is one. */
  renewAtOnce(now: number): void {
    if (this.renewAt < Number.POSITIVE_INFINITY) this.renewAt = now;
  }

  /** Notes the renewal that begins now; undefined once it is answered. Until then no other renewal is due. */
  noteRenewing(renewing: Promise<unknown> | undefined): void {
    this.renewing = renewing;
    if (renewing) this.renewAt = Number.POSITIVE_INFINITY;
  }

  /** The time until which nobody may get the key after this hold has expired; 0 if `delay` is 0. */
  get closedUntil(): number {
    return this.#terms.delay > 0 ? this.deadline + this.#terms.delay : 0;
  }

  renews(now: number): boolean {
    return now < this.renewedUntil && (this.#terms.renew || this.deadline < this.#leaseEnd);
  }

  /** Whether the deadline is ahead. It first notes the last renewal by the stand-in, which no event reports. */
  lasts(now: number): boolean {
    const sent = this.cover?.confirmed;
    if (sent !== undefined && sent > this.sent) this.noteRenewal(sent, this.ttl, now);
    return now < this.deadline;
  }

  /** Sets the lease that is asked for from now on. An earlier request of the stand-in may still arrive, and set its own ttl. */
  ask(ttl: number): void {
    const before = this.ttl;
    this.ttl = ttl;
    this.cover?.follow(this);
    if (this.cover?.asking) this.doubt(Math.min(before, ttl));
  }

  noteRenewal(sent: number, validFor: number, now: number): void {
    const confirmed = Math.min(validFor, this.#doubt);
    this.confirmation = { sent, validFor: confirmed };
    const good = usableTime(confirmed, this.ttl, this.#terms);
    this.failure = undefined;
    const confirmedFor = Math.min(usableTime(this.ttl, this.ttl, this.#terms), good);
    this.#begin(sent, Math.max(this.deadline, deadlineOf(sent, good)), confirmedFor, now);
    this.cover?.follow(this);
  }

  renewalFailed(error: unknown, now: number): void {
    this.failure = error;
    this.renewAt = now + this.patience / 4;
  }

  /**
   * Makes the lease last for `ttl` from `sent`.
   * @returns false when an unanswered request may still make the lease shorter, and no renewal follows
   */
  noteExtension(ttl: number, sent: number): boolean {
    if (this.#terms.renew) return true;
    this.#leaseEnd = Math.max(this.#leaseEnd, deadlineOf(sent, ttl));
    return ttl + this.#terms.delay <= this.#doubt;
  }

  /**
   * Notes that a renewal to `ttl` may or may not have arrived. It may arrive after later requests, if these use another connection, and set its
   * shorter lease last. So from now on no answer is good for longer than `ttl`.
   */
  doubt(ttl: number): void {
    this.#doubt = Math.min(this.#doubt, ttl);
  }

  /** Whether no unanswered request can change the lease any more. After a hand-over such a request would change the lease of the next caller. */
  get certain(): boolean {
    return this.#doubt === Number.POSITIVE_INFINITY && !this.cover?.asking;
  }
}

/**
 * Gives the part of the confirmed time that the holder may count on, ms. With `maxHold` that part is no longer than the lease: otherwise a
 * session would carry the hold for ever. With `delay` it is at least 1, so that a timer of this length makes progress.
 * @param ttl the lease that is asked of the engine
 */
export function usableTime(
  validFor: number,
  ttl: number,
  { delay, maxHold }: Pick<Terms, 'delay' | 'maxHold'>,
): number {
  const good = maxHold < Number.POSITIVE_INFINITY ? Math.min(validFor, ttl) : validFor;
  return delay > 0 ? Math.max(1, good - delay) : good;
}

/** Gives the ttl with which a request that is sent now keeps the deadline of the holder as it is, ms. Then the engine confirms at most this ttl. */
export function restOfLease(timing: HoldTiming, now: number): number {
  const ttl = Math.min(timing.ttl, validUntil(Math.max(timing.deadline, timing.closedUntil), now));
  timing.confirmation = { sent: now, validFor: ttl };
  return ttl;
}

/** Renews holds while the thread that has them cannot run. No call throws, or waits. */
export interface StandIn {
  /** Begins to stand in for the watchdog of a hold. Undefined if it has no room for the hold. */
  cover(handle: Handle, schedule: Schedule): Cover | undefined;
}

/** The facts that the watchdog has about a hold. Times are by the clock of its engine, ms. */
export interface Schedule {
  /** The lease that is asked of the engine: an extension makes it longer. */
  readonly ttl: number;
  /** The time of the request that was confirmed last: the deadline counts from it. */
  readonly sent: number;
  /** The time from that request to the next one, ms: a third of the lease; less with a long notice, to leave time for a second try. */
  readonly interval: number;
  /** The time at which the watchdog stops renewing the hold, by `maxHold`. */
  readonly renewedUntil: number;
}

/** The stand-in of one hold. */
export interface Cover {
  /** The time at which the stand-in sent the last renewal that the engine has confirmed. */
  readonly confirmed: number | undefined;
  /** Whether a renewal by the stand-in is on its way, or may be. */
  readonly asking: boolean;
  /** Follows a schedule that has changed. */
  follow(schedule: Schedule): void;
  /** Ends the stand-in: the hold is over, or its holder was notified of the loss. A second call does nothing. */
  end(): void;
}
