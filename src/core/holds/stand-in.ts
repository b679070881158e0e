import type { Handle } from '../contract/backend.ts';

/** Renews holds while the thread that has them cannot run. No call throws, or waits. */
export interface StandIn {
  /** Begins to stand in for the watchdog of a hold. `UNCOVERED` where that is of no use: its lease is longer than any stall. */
  cover(handle: Handle, schedule: Schedule): Cover;
}

/** What the watchdog knows of a hold. Times by the clock of its engine, ms. */
export interface Schedule {
  /** The lease that is asked of the engine. */
  readonly ttl: number;
  /** When the last confirmation was asked for. */
  readonly sent: number;
  /** How long after that the watchdog asks for the next one. */
  readonly interval: number;
  /** When the watchdog stops to renew it, by `maxHold`. */
  readonly renewedUntil: number;
}

/** The stand-in of one hold. */
export interface Cover {
  /** When its last renewal was sent, to the lease of the schedule, of those that the engine confirmed. */
  readonly confirmed: number | undefined;
  /** Whether a renewal of it is on its way, or may be. */
  readonly asking: boolean;
  /** The schedule has changed. */
  follow(schedule: Schedule): void;
  /** The hold is over, or its holder was told to stop. Harmless afterwards. */
  end(): void;
}

/** Of a hold that only its watchdog renews. */
export const UNCOVERED: Cover = { confirmed: undefined, asking: false, follow() {}, end() {} };
