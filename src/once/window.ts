import { CALL_TIMEOUT_MS } from '../core/index.ts';

/** The age of a tick by the clock of an instance. */
export type Age = 'early' | 'young' | 'late';

/**
 * The time in which a tick may be asked for and begin to run, in ms since 1970 by each instance's own clock. A key that one instance
 * keeps until its clock is past `end` is kept long enough for all: the clocks of the others are at most `skew` behind, and say by then
 * that the tick may not begin.
 */
export interface Window {
  /** When the tick is due. */
  readonly due: number;
  readonly first: number;
  /** An instance whose clock is later does not ask for it. */
  readonly last: number;
  /** An instance that asked before `last`, and whose answer comes later than this, does not begin to run it. */
  readonly lastBegin: number;
  readonly end: number;
}

/** The time that the answer to the last question may take, ms: that of a call to the engine. */
const ANSWER_MS = CALL_TIMEOUT_MS;

export const windowOf = (due: number, within: number, skew: number): Window => ({
  due,
  first: due - skew,
  last: due + within,
  lastBegin: due + within + ANSWER_MS,
  end: due + within + ANSWER_MS + skew,
});

/** How long the tick is still young, ms. */
export const timeLeft = ({ last }: Window, now: number): number => Math.max(0, last - now);

/** Whether another instance may still begin to run the tick. */
export const matters = ({ end }: Window, now: number): boolean => now <= end;

export const ageAt = ({ first, last }: Window, now: number): Age => {
  if (now < first) return 'early';
  return now <= last ? 'young' : 'late';
};

/** Whether an instance that asked while the tick was young may begin to run it. */
export const mayBegin = ({ lastBegin }: Window, now: number): boolean => now <= lastBegin;

/** How much of a duration a fast clock really waits, as for a lease. */
const FAST_CLOCK_RATE = 0.99;

/** How long to keep a key from now on, ms. The engine counts the time, and its clock may be a little fast. 0: not at all. */
export const keepFrom = (window: Window, now: number): number =>
  matters(window, now) ? Math.ceil((window.end - now) / FAST_CLOCK_RATE) + 2 : 0;

/** The longest time for which a key is kept, ms. */
export const longestKept = (window: Window): number => keepFrom(window, window.first);
