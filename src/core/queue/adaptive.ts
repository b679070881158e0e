/**
 * Decides how long a lease has to be for work whose length nobody knows. The usual duration is a moving average, 8 parts old to 2 parts
 * new, so that one slow run moves it by a fifth; a lease is half as long again as the usual or the last duration, whichever is more, so
 * that work may grow by half from one run to the next without outgrowing its lease.
 */
export interface Lesson {
  /** Moving average of how long the lock was held, ms. */
  readonly usual: number;
  /** The next lease, ms: more than was asked for, up to the cap. */
  readonly lease: number;
}

const OLD = 0.8;
const NEW = 0.2;
const HEADROOM = 1.5;

/**
 * Gives what is remembered after work that took `took` ms; undefined, so that it is forgotten, if the lease that was asked for is long
 * enough.
 * @param before what was remembered until now
 * @param ttl the lease that was asked for, ms
 * @param cap the longest lease, ms
 */
export function learn(before: Lesson | undefined, took: number, ttl: number, cap: number): Lesson | undefined {
  const usual = before ? OLD * before.usual + NEW * took : took;
  const lease = Math.ceil(Math.max(usual, took) * HEADROOM);
  return lease <= ttl ? undefined : { usual: Math.round(usual), lease: Math.min(lease, cap) };
}

export const noteOf = ({ usual, lease }: Lesson): string => `1 ${usual} ${lease}`;

/** Reads a lesson from a note. It gives undefined for any other text: a lesson is advice, and may be ignored. */
export function lessonIn(text: string | undefined): Lesson | undefined {
  const [, usual, lease] = /^1 (\d+) (\d+)$/.exec(text ?? '') ?? [];
  return lease === undefined ? undefined : { usual: Number(usual), lease: Number(lease) };
}
