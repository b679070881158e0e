/** A grant as this process counts on it: for `validFor` ms from before its request was sent. */
export interface LocalGrant {
  readonly ticket: bigint;
  /** As in `Grant`. */
  readonly span?: number | undefined;
  /** When the request was sent that this grant counts from. */
  readonly sent: number;
  readonly validFor: number;
  readonly lost?: AbortSignal;
  /** Until when an unanswered attempt of this claim may still arrive. It would set the lease that it asked for. */
  readonly lateUntil?: number;
}

/** The rest goes to clocks that run at different rates. */
const PART = 0.99;
/** ms for the rounding of both clocks. */
const ROUNDING = 2;

/**
 * The deadline of a lease. It counts from before the request was sent, less a hundredth for clocks that run at different rates
 * and 2 ms for their rounding (Gray and Cheriton, *Leases*, 1989).
 */
export const deadlineOf = (sent: number, validFor: number): number => sent + validFor * PART - ROUNDING;

/** What `validFor` has to be, if the request was sent `later` ms later, for the deadline to stay the same. */
export const sentLater = (validFor: number, later: number): number => validFor - later / PART;
