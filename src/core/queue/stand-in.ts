import type { Handle } from '../contract/backend.ts';

/** Renews holds while the thread that has them cannot run. No call throws, or waits. */
export interface StandIn {
  /** Begins to stand in for the watchdog of a hold. Undefined where that is of no use: its lease is longer than any stall. */
  cover(handle: Handle, schedule: Schedule): Cover | undefined;
}

/** The facts that the watchdog has about a hold. Times are by the clock of its engine, ms. */
export interface Schedule {
  /** The lease that is asked of the engine. */
  readonly ttl: number;
  /** The time of the request that was confirmed last. */
  readonly sent: number;
  /** The time from that request to the next one of the watchdog, ms. */
  readonly interval: number;
  /** The time at which the watchdog stops to renew it, by `maxHold`. */
  readonly renewedUntil: number;
}

/** The stand-in of one hold. */
export interface Cover {
  /** The time at which the last renewal was sent that the engine confirmed, to the lease of the schedule. */
  readonly confirmed: number | undefined;
  /** Whether a renewal of it is on its way, or may be. */
  readonly asking: boolean;
  /** Follows a schedule that has changed. */
  follow(schedule: Schedule): void;
  /** Ends it: the hold is over, or its holder was told to stop. It may be called again. */
  end(): void;
}
