import { CALL_TIMEOUT_MS } from '../core/index.ts';

export type Age = 'early' | 'young' | 'late';

/**
 * The time in which a tick may be asked for, and may begin to run: ms since 1970 by the clock of each instance. A key that one instance
 * keeps until `end` by its own clock is kept long enough for all: the clocks of the others are at most `skew` behind, so they are past
 * `lastBegin` by then.
 */
export interface Window {
  readonly due: number;
  readonly first: number;
  /** An instance whose clock is later does not ask for it. */
  readonly last: number;
  /** An instance that asked before `last`, and whose answer comes later than this, does not begin to run it. */
  readonly lastBegin: number;
  readonly end: number;
}

export const windowOf = (due: number, within: number, skew: number): Window => ({
  due,
  first: due - skew,
  last: due + within,
  lastBegin: due + within + CALL_TIMEOUT_MS,
  end: due + within + CALL_TIMEOUT_MS + skew,
});

/** How long the tick is still young, ms. */
export const timeLeft = ({ last }: Window, now: number): number => Math.max(0, last - now);

/** Whether some instance may still begin to run the tick. */
export const matters = ({ end }: Window, now: number): boolean => now <= end;

export const ageAt = ({ first, last }: Window, now: number): Age => {
  if (now < first) return 'early';
  return now <= last ? 'young' : 'late';
};

/** Whether an instance that asked while the tick was young may begin to run it. */
export const mayBegin = ({ lastBegin }: Window, now: number): boolean => now <= lastBegin;

/** The part of a duration after which a fast clock of an engine says that it is over, as for a lease. */
const FAST_CLOCK_RATE = 0.99;

/** How long the engine has to keep a key from now on, ms. 0: not at all. */
export const keepFrom = (window: Window, now: number): number =>
  matters(window, now) ? Math.ceil((window.end - now) / FAST_CLOCK_RATE) + 2 : 0;

export const longestKept = (window: Window): number => keepFrom(window, window.first);
