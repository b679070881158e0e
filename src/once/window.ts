import { CALL_TIMEOUT_MS } from '../core/index.ts';

export type Age = 'early' | 'young' | 'late';

/**
 * The time in which a tick may be asked for, and may begin to run: ms since 1970 by the clock of each instance. If one instance keeps a key until
 * `end` by its own clock, that is long enough for all: the other clocks are at most `skew` behind, so they are past `lastBegin` by then.
 */
export interface Window {
  readonly due: number;
  readonly first: number;
  /** After this time an instance does not ask for the tick. */
  readonly last: number;
  /** After this time an instance does not begin to run the tick, even if it asked before `last`. */
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

/** An engine's clock may run fast: at worst the engine drops a key after this part of the time asked for, as with a lease. */
const FAST_CLOCK_RATE = 0.99;

/** How long the engine has to keep a key from now on, ms. 0: not at all. */
export const keepFrom = (window: Window, now: number): number =>
  matters(window, now) ? Math.ceil((window.end - now) / FAST_CLOCK_RATE) + 2 : 0;

export const longestKept = (window: Window): number => keepFrom(window, window.first);
