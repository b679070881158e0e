/** What a tick is to an instance that looks at its own clock. */
export type Age = 'early' | 'young' | 'late';

/**
 * The time in which a tick may begin to run, in ms since 1970 as each instance has them. Whoever keeps a key until its own clock says
 * `end` has kept it until the clock of every other instance, which is at most `skew` behind, says that the tick is late.
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

export const ageAt = ({ first, last }: Window, now: number): Age => {
  if (now < first) return 'early';
  return now <= last ? 'young' : 'late';
};

/** The part of a duration by which a clock may be too fast: as of a lease. */
const RATE = 0.99;

/** For how long a key has to be kept from now on, ms: the engine counts it, by a clock that may be a little fast. 0: no longer. */
export const keepFrom = ({ end }: Window, now: number): number => (now < end ? Math.ceil((end - now) / RATE) + 2 : 0);

/** The longest that a key is ever kept, ms. */
export const longestKept = (window: Window): number => keepFrom(window, window.first);
