import { counted } from '../../src/core/index.ts';
import type { Disturbance } from './events.ts';
import type { FaultPeriod } from './history.ts';

/** A promise that was broken. */
export type BrokenPromise =
  /** Two holders at once; more permits than there are; a reader together with a writer. */
  | 'exclusion'
  /** A token was no higher than that of an earlier holder. */
  | 'tokens'
  /** The register accepted a write from a holder after the next one had begun, or refused one that still held. */
  | 'register'
  /** A key was free for longer than promised, although a claim waited and the engine answered. */
  | 'starvation'
  /** Waiters got the key only at their next poll, as if no wake-up came. */
  | 'wake-ups'
  /** A hold was lost while the event loop was blocked, although a thread renews it. */
  | 'renewal'
  /** A hold outlived its lease and its process. */
  | 'residue'
  /** A process ended by itself. */
  | 'crash'
  /** A process did not end: a wait, a release or a close had no end. */
  | 'hang';

export interface Violation {
  readonly broken: BrokenPromise;
  readonly key?: string;
  /** ms since the start. */
  readonly at: number;
  readonly message: string;
  /** The names of the operations that broke the promise. */
  readonly ops: readonly string[];
}

/** What the judge must know of the engine and the run. */
export interface Conditions {
  /** The ttl of all holds, ms. */
  readonly ttl: number;
  /** Whether the engine wakes waiters. If they only poll, no wake-up can be late. */
  readonly wakes: boolean;
  /** The time to the engine and back, ms. */
  readonly roundTrip: number;
  /** Whether a thread renews holds while the loop is blocked. */
  readonly standIn?: boolean;
  /** Whether a process that is stopped can keep all others from the engine: inside a transaction of a file it does. */
  readonly stopsAll?: boolean;
}

export interface Totals {
  wishes: number;
  holds: number;
  /** Holds during a fault, or while its effects could last. */
  underFaults: number;
  /** The longest time from a request to its hold, ms. */
  longestWait: number;
  handOvers: number;
  /** How long a free key waited for its next holder, without a fault, ms. */
  longestHandOver: number;
}

/** Why a run ended. */
export type EndReason = 'time' | 'broken' | 'interrupted' | 'server gone';

export interface Verdict {
  /** `kept`: all promises were kept, and enough faults hit. `nothing`: too little happened to know. */
  readonly outcome: 'kept' | 'broken' | 'nothing';
  readonly ended: EndReason;
  /** Why the run proves nothing. */
  readonly missing: readonly string[];
  readonly engine: string;
  readonly seed: number;
  /** How long it ran, ms. */
  readonly ran: number;
  readonly ttl: number;
  readonly processes: number;
  readonly totals: Totals;
  readonly faults: Readonly<Record<string, FaultCount>>;
  /** Holders that stood still past the end of their leases. */
  readonly overslept: number;
  /** Late writes, after the next holder has written. `staleRefused`: how many the token check refused. */
  readonly staleWrites: number;
  readonly staleRefused: number;
  readonly broken: { readonly [kind in Violation['broken']]?: number };
  readonly violations: readonly Violation[];
  /** What the run could not judge, and other remarks. */
  readonly notes: readonly string[];
}

export interface FaultCount {
  readonly done: number;
  /** Faults that hit a holder, a waiter, or bytes on their way. */
  readonly effective: number;
}

/** A run with fewer proves nothing. `faults` and `kinds`: only faults that hit. */
export const MIN_EVIDENCE = { holds: 100, underFaults: 30, faults: 5, kinds: 3 } as const;

/** What is missing for a meaningful verdict. */
export function missingEvidence(totals: Totals, faults: Verdict['faults']): string[] {
  const effective = Object.values(faults).reduce((sum, each) => sum + each.effective, 0);
  const kinds = Object.values(faults).filter((each) => each.effective > 0).length;
  const few = (count: number, least: number, one: string, several?: string): string[] =>
    count < least ? [`${counted(count, one, several)}; ${least} are needed`] : [];
  return [
    ...few(totals.holds, MIN_EVIDENCE.holds, 'hold'),
    ...few(totals.underFaults, MIN_EVIDENCE.underFaults, 'hold under faults', 'holds under faults'),
    ...few(effective, MIN_EVIDENCE.faults, 'fault that hit something', 'faults that hit something'),
    ...few(kinds, MIN_EVIDENCE.kinds, 'kind of faults that hit something', 'kinds of faults that hit something'),
  ];
}

/** Counts the planned faults that are over, by kind. */
export function countFaults(periods: Iterable<FaultPeriod>): Record<string, FaultCount> {
  const counts: { [kind in Disturbance]?: { done: number; effective: number } } = {};
  for (const { kind, by, until, effective } of periods) {
    if (by === undefined || until === Number.POSITIVE_INFINITY) continue;
    counts[kind] ??= { done: 0, effective: 0 };
    const count = counts[kind];
    count.done++;
    if (effective) count.effective++;
  }
  return counts;
}
