import { type Claim, PLACE_TTL, type Refusal } from './backend.ts';
import type { Terms } from './options.ts';

/** Safety net beside every watch: a waiter asks at least this often. ms. */
const POLL = 2_000;

/** ms in which a place in line needs a sign of life: three times before it may lapse. */
const signOfLife = (claim: Claim): number => Math.min(claim.ttl, PLACE_TTL) / 3;

/** How long a waiter sleeps beside its watch: to the earliest lapse ahead, or until its place needs a sign of life. */
export function watchedPause(claim: Claim, refusal: Refusal, random: number): number {
  const net = Math.min(POLL, signOfLife(claim));
  return Math.max(1, Math.min(net, refusal.retryAfter ?? net)) + random * 5;
}

/** How long to sleep before asking again where nobody wakes: doubled with each try, part of it random, so that rivals part. */
export function backOff({ pause, bound, jitter }: Terms['spin'], tries: number, random: number): number {
  return Math.min(pause * 2 ** Math.min(tries, 16), bound) * (1 - jitter * random);
}

/** The same for a claim that asks again and again: never so long that its place in line would lapse. */
export function polledPause(claim: Claim, spin: Terms['spin'], tries: number, random: number): number {
  const pause = backOff(spin, tries, random);
  return claim.queue ? Math.min(pause, signOfLife(claim)) : pause;
}
