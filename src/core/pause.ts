import type { Answer } from './answer.ts';
import { type Attempt, type Claim, PLACE_TTL, type Refusal, type Traits } from './backend.ts';
import type { Terms } from './options.ts';

/** Safety net beside every watch: a waiter asks at least this often. ms. */
const POLL = 2_000;

/** How long a claim sleeps before it asks again: after a refusal beside its watch, or where nobody wakes it or answers. */
export function pauseAfter(
  answer: Answer | undefined,
  wakes: Traits['wakes'],
  claim: Claim,
  spin: Terms['spin'],
  tries: number,
  random: number,
): number {
  const beside = answer && !answer.attempt.granted && wakes !== 'never';
  return beside
    ? watchedPause(claim, answer.attempt as Refusal, random)
    : polledPause(claim, spin, tries, random, answer?.attempt);
}

/** ms in which a place in line needs a sign of life: three times before it may lapse. */
const signOfLife = (claim: Claim): number => Math.min(claim.ttl, PLACE_TTL) / 3;

/** To the earliest lapse ahead, or until its place needs a sign of life. */
function watchedPause(claim: Claim, refusal: Refusal, random: number): number {
  const net = Math.min(POLL, signOfLife(claim));
  return Math.max(1, Math.min(net, refusal.retryAfter ?? net)) + random * 5;
}

/** Never so long that its place in line would lapse, nor past the moment from which the engine says it is worth asking. */
function polledPause(
  claim: Claim,
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
