import type { Traits } from '../contract/traits.ts';

/** A grant in the terms of this process: good for `validFor`, counted from before its request was sent. */
export interface Granted {
  readonly ticket: bigint;
  /** As in `Grant`. */
  readonly span?: number | undefined;
  /** When the request was sent that this grant counts from. */
  readonly sent: number;
  readonly validFor: number;
  readonly lost?: AbortSignal;
  /** Until when another attempt of it, which was not answered, may arrive: it would set the lease that was asked for. */
  readonly lateUntil?: number;
}

const WORTH = 0.99;

/**
 * The deadline of a lease: counted from before the request was sent, less a hundredth for clocks that run at different rates
 * and 2 ms for their rounding (Gray and Cheriton, *Leases*, 1989).
 */
export const deadlineOf = (sent: number, validFor: number): number => sent + validFor * WORTH - 2;

/** Of a shorter lease nothing is left once that is taken off. ms */
const SHORTEST = 3;

/** Bounds of what may be asked for as a lease, ms. @param delay for which the key stays taken after it */
export const leaseBounds = ({ ttl: { min, max } }: Traits, delay: number): { min: number; max: number } => ({
  min: Math.max(min, SHORTEST),
  max: max - delay,
});

/** What `validFor` has to be for a request that was sent `later`, ms, for the deadline to stay the same. */
export const sentLater = (validFor: number, later: number): number => validFor - later / WORTH;
