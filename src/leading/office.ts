import type { Clock, Lease } from '../core/index.ts';
import { HeldTerm, type Term } from './term.ts';

/** The work of a leader in a term. */
export type TermWork = (term: Term) => Promise<unknown> | unknown;

/** A term whose function has settled. */
export interface SettledTerm {
  readonly term: HeldTerm;
  /** Whether the function failed by itself, and not because the term ended. */
  readonly failed: boolean;
  readonly error?: unknown;
}

export interface Office {
  readonly name: string;
  readonly clock: Clock;
  /** How long after the end of a term its function is overdue, ms. */
  readonly settle: number;
  /** Ends the term. */
  readonly stop: AbortSignal | undefined;
  began(term: HeldTerm): void;
  overdue(term: HeldTerm): void;
}

/**
 * Leads one term: runs the function until it settles, and tells it if the term ends earlier. It always waits for the function:
 * an early release would let the next leader in beside it.
 */
export async function lead(lease: Lease, work: TermWork, office: Office): Promise<SettledTerm> {
  const { stop, clock, settle } = office;
  const term = new HeldTerm(office.name, lease);
  let cancel: (() => void) | undefined;
  const onLoss = (): void => term.end('lost', lease.signal.reason);
  const onStop = (): void => term.end('stopped', stop?.reason);
  const onEnd = (): void => {
    cancel = clock.after(settle, () => office.overdue(term), true);
  };
  term.signal.addEventListener('abort', onEnd, { once: true });
  lease.signal.addEventListener('abort', onLoss, { once: true });
  stop?.addEventListener('abort', onStop, { once: true });
  try {
    office.began(term);
    if (lease.signal.aborted) onLoss();
    if (stop?.aborted) onStop();
    if (term.why === undefined) await work(term);
    return { term, failed: false };
  } catch (error) {
    // A function may throw because it was told to end, the reason of the signal for example. That is no failure.
    return { term, failed: term.why === undefined, error };
  } finally {
    cancel?.();
    term.signal.removeEventListener('abort', onEnd);
    lease.signal.removeEventListener('abort', onLoss);
    stop?.removeEventListener('abort', onStop);
  }
}
