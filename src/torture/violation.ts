/** A promise that was broken. */
export type BrokenPromise =
  /** Two holders at once; more permits than there are; a reader beside a writer. */
  | 'exclusion'
  /** A token was no higher than that of an earlier holder. */
  | 'tokens'
  /** The register accepted a write from a holder after the next one had begun, or refused one that still held. */
  | 'register'
  /** A key was free, a claim waited, the engine answered, and nobody held the key for longer than promised. */
  | 'starvation'
  /** Waiters hold the key only after their next poll, as if no wake-up came. */
  | 'wake-ups'
  /** A hold was lost to a blocked loop, although a thread renews it. */
  | 'renewal'
  /** A hold outlived its lease and its process. */
  | 'residue'
  /** A process ended by itself. */
  | 'crash';

export interface Violation {
  readonly broken: BrokenPromise;
  readonly key?: string;
  /** ms since the start. */
  readonly at: number;
  readonly message: string;
  /** The operations that are part of it. */
  readonly ops: readonly string[];
}

/** What the judge must know of the engine and the run. */
export interface Conditions {
  /** ms */
  readonly ttl: number;
  /** Whether the engine wakes waiters. If they only poll, no wake-up can be late. */
  readonly wakes: boolean;
  /** The time to the engine and back, ms. */
  readonly roundTrip: number;
  /** Whether a thread renews holds while the loop is blocked. */
  readonly standIn?: boolean;
}
