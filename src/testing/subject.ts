import type { Backend, LockOptions } from '../core/index.ts';
import type { ManualClock } from './manual-clock.ts';

/** A backend to test: how to reach its engine, how quick it is, and how to disturb it. */
export interface Subject {
  /** Shown in failures. */
  readonly name: string;
  /**
   * Opens a client of its own to the same engine, as another process would. The suite closes it. Nobody else may use its prefix
   * meanwhile: some cases use keys as simple as `a`.
   */
  open(): Promise<Backend>;
  /** Opens a client to the same engine with another prefix. */
  apart?(): Promise<Backend>;
  /** The clock of the engine, if it takes one. The suite moves it, so no case waits in real time. */
  readonly clock?: ManualClock;
  /** How quick the engine is. Default: quick. */
  readonly timing?: Timing;
  /** Options of all locks that the laws take, where a law says nothing else. */
  readonly options?: LockOptions;
  /** How to disturb it. Default: not at all. */
  readonly faults?: Faults;
  /** The seed of the random cases. Default: another one each run. A failure names it. */
  readonly seed?: number;
}

/** The times that the laws use. */
export interface Timing {
  /** A short lease, ms. Default 700, or the least the engine takes if that is more. */
  readonly ttl?: number;
  /** How late the engine or this machine may be, ms. Default 250. */
  readonly tolerance?: number;
}

/** Ways to disturb a client that `open` gave. A case that needs a missing one attempts nothing and says so. */
export interface Faults {
  /** Breaks the client's connections without a goodbye, as the death of a process does. */
  die?(client: Backend): Promise<void>;
  /** Holds back what the client sends, until you call the returned function. */
  stall?(client: Backend): Promise<() => Promise<void>>;
}
