import type { Attempt, Claim, Refusal, Traits } from '../contract/backend.ts';
import { signOfLife, type Terms } from '../contract/terms.ts';

/** The random part of the pause of a waiter with a watch, ms. It keeps waiters from asking at the same moments. */
const JITTER_MS = 5;

type Waiting = Pick<Claim, 'ttl' | 'queue' | 'placeTtl'>;

/** Decides how long a claim sleeps before it asks again, with or without a watch. */
export function pauseAfter(
  attempt: Attempt | undefined,
  wakes: Traits['wakes'],
  claim: Waiting,
  spin: Terms['spin'],
  attempts: number,
  random: number,
): number {
  if (attempt?.granted === false && wakes !== 'never') return watchedPause(claim, attempt, random);
  // The pause ends at the latest when the place in the queue needs a sign of life, or when the engine says that it is worth asking.
  const worthAsking = (attempt?.granted === false && attempt.retryAfter) || Number.POSITIVE_INFINITY;
  const net = claim.queue ? signOfLife(claim) : Number.POSITIVE_INFINITY;
  return Math.min(backOff(spin, attempts, random), worthAsking, net);
}

/** After an expiry each waiter asks this much later than the waiter ahead of it, ms. If the first waiter is admitted, the engine wakes the others. */
const STAGGER_MS = 5;

/** The time to the earliest expiry ahead, and a little more for each waiter ahead, so that they ask in turn; at most until a sign of life is due. */
function watchedPause(claim: Waiting, { ahead = 1, retryAfter }: Refusal, random: number): number {
  const net = signOfLife(claim);
  const turn = (retryAfter ?? net) + Math.max(0, ahead - 1) * STAGGER_MS;
  return Math.max(1, Math.min(net, turn)) + random * JITTER_MS;
}

/** Gives a pause that doubles with each try. A part of it is random, so that rivals do not ask at the same moments. */
export function backOff({ pause, bound, jitter }: Terms['spin'], attempts: number, random: number): number {
  return Math.min(pause * 2 ** Math.min(attempts, 16), bound) * (1 - jitter * random);
}

/** The time for which a waiter asks an engine that does not answer, ms. */
export const MAX_OUTAGE_MS = 10_000;
/** All claims share this error. A stack for each claim would say nothing, and cost more than many attempts. */
export const UNANSWERED = new Error('no request was answered so far');

/**
 * What went wrong since the last answer of the engine. When the request that met an outage ends, the next request takes the outage over, but
 * waits for `MAX_OUTAGE_MS` from its own beginning.
 */
export class Outage {
  /** The time at which the last answered request was sent; before any answer, the time of the first one that failed. */
  #since: number;
  /** The last error. */
  last: unknown;

  constructor(since: number, last: unknown) {
    this.#since = since;
    this.last = last;
  }

  /** @param stoodStill for how long this process did not run, and so could not ask the engine, ms */
  noteError(error: unknown, stoodStill: number): void {
    this.last = error;
    this.#since += stoodStill;
  }

  /** The time until which a caller that began at `began` waits. */
  limit(began: number): number {
    return Math.max(this.#since, began) + MAX_OUTAGE_MS;
  }

  /** Shortens a pause, so that the last attempt is sent at `limit` at the latest. That attempt then takes at most the time limit of a call. */
  limited(pause: number, began: number, now: number): number {
    return Math.min(pause, Math.max(1, this.limit(began) - now));
  }

  /** Whether a request that was sent at `sent` and failed now exceeds the limit. The first request of an outage does not. */
  exceeds(began: number, sent: number, now: number): boolean {
    return now > this.limit(began) && sent > this.#since;
  }
}
