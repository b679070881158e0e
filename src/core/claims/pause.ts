import { type Attempt, type Claim, PLACE_TTL, placeTtlOf, type Refusal, type Traits } from '../contract/backend.ts';
import type { Terms } from '../contract/terms.ts';

/** Random part of the pause beside a watch, so that waiters do not ask in step. ms. */
const JITTER = 5;

type Waiting = Pick<Claim, 'ttl' | 'queue' | 'placeTtl'>;

/** How long a claim sleeps before it asks again: after a refusal beside its watch, or where nobody wakes it or answers. */
export function pauseAfter(
  attempt: Attempt | undefined,
  wakes: Traits['wakes'],
  claim: Waiting,
  spin: Terms['spin'],
  tries: number,
  random: number,
): number {
  if (attempt?.granted === false && wakes !== 'never') return watchedPause(claim, attempt, random);
  return polledPause(claim, spin, tries, random, attempt);
}

/**
 * ms in which a place in line needs a sign of life: three times before it may lapse. Also the safety net beside every watch: a waiter
 * asks at least this often.
 */
const signOfLife = (claim: Pick<Claim, 'ttl' | 'placeTtl'>): number => placeTtlOf(claim) / 3;

/** What a waiter asks for that would rather cost the engine little: `spin.bound` is how often it asks, where the engine allows it. */
export function placeTtlFor({ spin }: Terms, { placeTtl = PLACE_TTL }: Traits): number | undefined {
  const wanted = Math.min(3 * spin.bound, placeTtl);
  return wanted > PLACE_TTL ? wanted : undefined;
}

/**
 * How much longer than its lease a waiter's claim has to last, ms. Its lease counts from its last sign of life that was
 * answered, for when it was admitted since then it cannot know; so much may be over by the time it hears of its grant: a pause, a
 * timer that is late, the way of the next sign of life, and the difference of the clocks.
 */
export const waiterMargin = (claim: Pick<Claim, 'ttl' | 'placeTtl'>): number =>
  Math.ceil(1.25 * signOfLife(claim)) + 25;

/** So much later than the one ahead of it a waiter looks after a lapse, ms: what the first one finds wakes the others. */
const STAGGER = 5;

/** To the earliest lapse ahead, in turn and not the whole line at once; or until its place needs a sign of life. */
function watchedPause(claim: Waiting, { ahead = 1, retryAfter }: Refusal, random: number): number {
  const net = signOfLife(claim);
  const turn = (retryAfter ?? net) + Math.max(0, ahead - 1) * STAGGER;
  return Math.max(1, Math.min(net, turn)) + random * JITTER;
}

/** Never so long that its place in line would lapse, nor past the moment from which the engine says it is worth asking. */
function polledPause(
  claim: Waiting,
  spin: Terms['spin'],
  tries: number,
  random: number,
  attempt: Attempt | undefined,
): number {
  const worthIt = (attempt?.granted === false && attempt.retryAfter) || Number.POSITIVE_INFINITY;
  return Math.min(backOff(spin, tries, random), worthIt, claim.queue ? signOfLife(claim) : Number.POSITIVE_INFINITY);
}

/** Doubled with each try, part of it random, so that rivals part. */
export function backOff({ pause, bound, jitter }: Terms['spin'], tries: number, random: number): number {
  return Math.min(pause * 2 ** Math.min(tries, 16), bound) * (1 - jitter * random);
}
