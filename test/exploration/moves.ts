/** One thing that may happen next. Its text names it in every schedule in which it can happen, and is what a schedule is written in. */
export interface Move {
  readonly text: string;
  /** What it touches: a process, the server, a message. `time` touches everything. */
  readonly touches: readonly string[];
  /** Faults are counted: a search goes up to so many of them. */
  readonly fault: boolean;
}

export const TIME = 'time';

/** Whether two moves lead to the same state in either order: they touch nothing in common. */
export function independent(one: Move, other: Move): boolean {
  if (one.touches.includes(TIME) || other.touches.includes(TIME)) return false;
  return !one.touches.some((what) => other.touches.includes(what));
}

/** Chooses among what may happen next; undefined ends the run, since another one does the same in another order. */
export type Choose = (moves: readonly Move[]) => Move | undefined;
