import type { Told } from './history.ts';

/** A lock that all processes want. */
export interface Prize {
  readonly as: 'mutex' | 'rwLock' | 'semaphore';
  readonly key: string;
  readonly permits: number;
  /** How many of its holds are longer than a lease may be without a renewal: 0 to 1. */
  readonly long: number;
}

export interface Task {
  readonly url: string;
  readonly prizes: readonly Prize[];
  /** ms */
  readonly ttl: number;
  /** Of `process.hrtime`, ns, as text: all times are counted from it. */
  readonly origin: string;
  readonly seed: number;
  /** Begins the names of its wishes. */
  readonly name: string;
  readonly by: number;
  readonly routed: boolean;
  readonly label: string;
  /** How many callers of each process want one lock after the other without a pause. */
  readonly busy: number;
}

export type ToWorker =
  | { readonly task: Task }
  /** An answer to `ask`: a port, or what the register holds. */
  | { readonly answer: number; readonly value: number }
  /** Do nothing else for so long: at once, or in pieces between which little else gets its turn. */
  | { readonly busy: number; readonly pieces: boolean }
  /** These processes are stopped: whoever outlives the referee wakes them. */
  | { readonly stopped: readonly number[] }
  | { readonly end: true };

export type Question =
  | { readonly route: { readonly host: string; readonly port: number } }
  /** The first word of a holder in the register; what is there now. */
  | { readonly claim: string }
  | { readonly write: string };

export type FromWorker =
  | { readonly ready: true }
  | { readonly failed: string }
  | { readonly told: Told & { readonly at: number } }
  | { readonly ask: number; readonly question: Question }
  /** How many it held when it began to be busy. */
  | { readonly held: number };
