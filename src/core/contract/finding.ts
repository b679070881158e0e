/** Something about a server that endangers locks, and what to do about it. */
export interface Finding {
  /** `danger`: locks may fail to exclude. `warning`: locks may fail to exclude after a fault. `info`: good to know. */
  readonly severity: 'info' | 'warning' | 'danger';
  /** A stable name, for programs: `eviction-policy`, `no-persistence`… */
  readonly code: string;
  /** The fact, in a sentence. */
  readonly message: string;
  /** What to do about it. */
  readonly advice: string;
}
