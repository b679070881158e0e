import type { MemoEvent } from '../../../simulation/memo/history.ts';

/** What the callers of one process do. */
export interface Asking {
  readonly key: string;
  /** The name of the process. */
  readonly by: string;
  readonly ttl: number;
  /** How long the work takes, ms. */
  readonly takes: number;
  readonly fails: boolean;
}

/**
 * What a process tells, by the time of the machine. `held`: the runner believes that nobody else has begun. `late`: it was stopped
 * between the grant and its work, and knows from the first that its lease is over.
 */
export type Told = MemoEvent | { readonly at: number; readonly what: 'held' | 'late'; readonly op: number };

/** ms by the clock that all processes of this machine share, and that nobody sets. */
export const machineTime = (): number => Number(process.hrtime.bigint()) / 1e6;
