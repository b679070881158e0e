/** What a process knows of the store, and chance. */
export interface StorePace {
  /** What its last request took, ms. */
  readonly took: number;
  /** It keeps nothing for longer, ms. */
  readonly longest: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** What keeps a place in a queue. */
export interface PlaceTerms {
  /** The place expires so many ms after its last sign of life. */
  readonly life: number;
  /** It gives the next sign of life once no more than this is left, ms. */
  readonly renewAt: number;
  /** Its questions need no request while the queue was seen less than this ago, ms. */
  readonly rest: number;
}

/** Longest life of a place, ms. */
const MAX_LIFE_MS = 120_000;
/** A life is shorter by up to this part of it, at random: those who came together need not give their signs of life together. */
const SPREAD = 0.4;
/** So many turns are near: their places live as those of all engines, and ask as often. */
export const NEAR_TURNS = 4;
/** A place lives for the time of so many writes for each turn farther: then all signs of life together are a small part of all writes. */
const WRITES_PER_TURN = 200;
/** A turn takes no fewer requests than this: a hold is released, then noticed. */
const REQUESTS_PER_TURN = 3;
/** The part of a usual life that has to be left for two more tries of a sign of life. */
const TRIES = 0.75;

/**
 * Decides how long a place lives, and how often its claim asks. Each sign of life is a write of the one document, so the deeper a place is
 * in the queue, the longer it lives. The price: a dead waiter deep in the queue is noticed later, when it comes near at the latest.
 * @param usual how long a place lives otherwise, ms
 * @param ttl of its claim, ms: it may be admitted at any moment, and has to notice that within its lease
 * @param turns so many turns of others come first
 * @param took what a request takes, ms
 * @param longest the longest life that the store can keep, ms
 */
export function placeTerms(
  { usual, ttl, turns }: { usual: number; ttl: number; turns: number },
  { took, longest, random }: StorePace,
): PlaceTerms {
  const far = Math.max(0, turns - NEAR_TURNS);
  const whole = Math.min(MAX_LIFE_MS, longest, far * WRITES_PER_TURN * took);
  const life = Math.max(usual, whole * (1 - SPREAD * random));
  const renewAt = Math.max(TRIES * usual, whole / 3);
  const rest = Math.min(ttl / 3, (renewAt - TRIES * usual) / 2, far * REQUESTS_PER_TURN * took);
  return { life, renewAt, rest };
}
