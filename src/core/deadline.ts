/** A grant in the terms of this process: good for `validFor`, counted from before its request was sent. */
export interface Granted {
  readonly ticket: bigint;
  /** When the request was sent that this grant counts from. */
  readonly sent: number;
  readonly validFor: number;
  readonly lost?: AbortSignal;
}

/**
 * The deadline of a lease: counted from before the request was sent, less a hundredth for clocks that run at different rates
 * and 2 ms for their rounding (Gray and Cheriton, *Leases*, 1989).
 */
export const deadlineOf = (sent: number, validFor: number): number => sent + validFor * 0.99 - 2;
