import type { Term } from '../../src/index.ts';

/**
 * Until when a leader believes in its term, ms, by a clock that all processes share; undefined when it does not believe in it now. The
 * shared clock is read first: a process may be stopped between two readings, and the other order took the time at which it went on for
 * the deadline.
 */
export function believedUntil(term: Pick<Term, 'remaining'>, now: () => number): number | undefined {
  const at = now();
  const { remaining } = term;
  return remaining > 0 ? at + remaining : undefined;
}
