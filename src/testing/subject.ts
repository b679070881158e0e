import type { Backend } from '../core/backend.ts';
import type { ManualClock } from './manual-clock.ts';

/** A backend on trial: how to reach its engine, how quick it is, and how to hurt it. */
export interface Subject {
  /** Shown in failures. */
  readonly name: string;
  /**
   * A client of its own to one and the same engine, as another process would have. The suite closes it. Nobody else may
   * use its prefix meanwhile: some cases hold keys as plain as `a`.
   */
  open(): Promise<Backend>;
  /** A client to the same engine under another prefix. */
  apart?(): Promise<Backend>;
  /** The clock that the engine was given, if it takes one: the suite drives it, and nothing has to wait. */
  readonly clock?: ManualClock;
  /** How quick it is. By default a quick engine. */
  readonly timing?: Timing;
  /** How to hurt it. By default not at all. */
  readonly faults?: Faults;
  /** Of the random cases. A new one each run by default; a failure names it. */
  readonly seed?: number;
}

/** The times that the laws are tried with. */
export interface Timing {
  /** A short lease, ms. Default 1,000, or the least the engine takes if that is more. */
  readonly ttl?: number;
  /** By how much the engine or this machine may be late, ms. Default 250. */
  readonly tolerance?: number;
}

/** Ways to hurt what `open` gave. Cases that need one that is not here are reported as excluded by it. */
export interface Faults {
  /** Ends the client's connections without a goodbye, as a killed process would. */
  die?(client: Backend): Promise<void>;
  /** Holds back what the client sends until the function that is returned is called. */
  stall?(client: Backend): Promise<() => Promise<void>>;
}
