/** The age of a tick by the clock of an instance. */
export type Age = 'early' | 'young' | 'late';

/**
 * The time in which a tick may begin to run, in ms since 1970 by each instance's own clock. A key that one instance keeps until
 * its clock is past `end` is kept long enough for all: the clocks of the others are at most `skew` behind, and say by then that
 * the tick is late.
 */
export interface Window {
  /** When the tick is due. */
  readonly due: number;
  readonly first: number;
  readonly last: number;
  readonly end: number;
}

export const windowOf = (due: number, within: number, skew: number): Window => ({
  due,
  first: due - skew,
  last: due + within,
  end: due + within + skew,
});

/** How long the tick is still young, ms. */
export const timeLeft = ({ last }: Window, now: number): number => Math.max(0, last - now);

/** Whether the tick may still be young for another instance. */
export const matters = ({ end }: Window, now: number): boolean => now <= end;

export const ageAt = ({ first, last }: Window, now: number): Age => {
  if (now < first) return 'early';
  return now <= last ? 'young' : 'late';
};

/** How much of a duration a fast clock really waits, as for a lease. */
const RATE = 0.99;

/** How long to keep a key from now on, ms. The engine counts the time, and its clock may be a little fast. 0: not at all. */
export const keepFrom = (window: Window, now: number): number =>
  matters(window, now) ? Math.ceil((window.end - now) / RATE) + 2 : 0;

/** The longest time for which a key is kept, ms. */
export const longestKept = (window: Window): number => keepFrom(window, window.first);
