import type { Attempt, Claim, Refusal, Traits } from '../contract/backend.ts';
import type { Terms } from '../contract/terms.ts';
import { signOfLife } from './numbered-claim.ts';

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
