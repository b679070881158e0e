/** Something about a server that endangers locks, and what to do about it. */
export interface Finding {
  /** `danger`: locks may fail to exclude. `warning`: they may under faults. `info`: good to know. */
  readonly severity: 'info' | 'warning' | 'danger';
  /** Stable, for machines: `eviction-policy`, `no-persistence`… */
  readonly code: string;
  /** What is so, in a sentence. */
  readonly message: string;
  /** What to do about it. */
  readonly advice: string;
}
