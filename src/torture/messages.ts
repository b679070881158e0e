import type { ProcessEvent } from './events.ts';

/** A lock that all processes want. */
export interface TestLock {
  readonly kind: 'mutex' | 'rwLock' | 'semaphore';
  readonly key: string;
  readonly permits: number;
  /** The part of its holds that are longer than a lease without renewal: 0 to 1. */
  readonly longPart: number;
}

export interface Task {
  readonly url: string;
  readonly testLocks: readonly TestLock[];
  /** ms */
  readonly ttl: number;
  /** The start of the run by `process.hrtime`, ns, as text. All times count from it. */
  readonly origin: string;
  readonly seed: number;
  /** The prefix of the names of its operations. */
  readonly name: string;
  readonly by: number;
  readonly routed: boolean;
  readonly label: string;
  /** How many callers of each process take one lock after the other without a pause. */
  readonly busy: number;
  /** Who renews holds while the loop is blocked. Default: nobody. */
  readonly renewal?: 'worker' | undefined;
}

export type ToWorker =
  | { readonly task: Task }
  /** An answer to `ask`: a port, or what the register holds. */
  | { readonly answer: number; readonly value: number }
  /** Keep the processor busy for so long: at once, or in pieces between which little else can run. */
  | { readonly busy: number; readonly pieces: boolean }
  /** These processes are stopped. If the referee dies, the others continue them. */
  | { readonly stopped: readonly number[] }
  | { readonly end: true };

export type Question =
  | { readonly route: { readonly host: string; readonly port: number } }
  /** The first write of a holder to the register, or its last. */
  | { readonly claim: string }
  | { readonly write: string };

export type FromWorker =
  | { readonly ready: true }
  | { readonly failed: string }
  | { readonly told: ProcessEvent & { readonly at: number } }
  | { readonly ask: number; readonly question: Question }
  /** How many locks it held when it became busy. */
  | { readonly held: number };
