import type { Attempt, Claim } from '../contract/backend.ts';
import { deadlineOf } from '../contract/clock.ts';
import type { Enclosing } from '../contract/origin.ts';
import type { Terms } from '../contract/terms.ts';

/** A claim, and what its label says of it. */
export interface NumberedClaim extends Claim {
  /** The number of the claim in this process. */
  readonly number: number;
  readonly inside: readonly Enclosing[];
  readonly detects?: number | undefined;
}

/** A grant that this process counts on, for `validFor` ms from just before its request was sent. */
export interface LocalGrant {
  readonly token: bigint;
  /** As in `Grant`. */
  readonly tokenCount?: number | undefined;
  /** The time of the request from which this grant counts. */
  readonly sent: number;
  readonly validFor: number;
  readonly lost?: AbortSignal | undefined;
  /** The time until which an unanswered attempt of this claim may still arrive. It would set the lease that it asked for. */
  readonly lateUntil?: number;
  /** Whether its claim was refused first: then others want the key, too. */
  readonly contended?: boolean;
}

/** What a claim that waits has learnt from the answers so far. */
export interface Known {
  /** Whether it was refused: then others want the key, too. */
  readonly contended: boolean;
  /** How many claims stood before it at the last refusal. */
  readonly ahead: number;
  /** The number of pauses since the queue before it got shorter. */
  readonly pauses: number;
}

export const NOTHING_KNOWN: Known = { contended: false, ahead: Number.POSITIVE_INFINITY, pauses: 0 };

/** What has come of a claim since its last step. */
export interface Heard {
  /** The answer of the engine; undefined if none came. */
  readonly attempt: Attempt | undefined;
  /** The grant that came in the answer, or by itself. */
  readonly grant: LocalGrant | undefined;
  /** Whether the answer made a hold needless, as a value of a memo does. */
  readonly needless: boolean;
}

/**
 * What a claim does next. `keep`: the process has the hold. `restart`: too little is left of the grant, so give it back, pause, and ask under
 * another id. `ask`: at once, since the engine knows the time by now. `wait`: pause as a claim that the engine may wake. `pause`: nobody knows
 * what the engine did, so ask again later. `leave`: its caller does not wait, or needs no hold.
 */
export interface ClaimStep {
  readonly act: 'keep' | 'restart' | 'ask' | 'wait' | 'pause' | 'leave';
  readonly known: Known;
}

/** Decides what a claim does next. */
export function step(
  known: Known,
  heard: Heard,
  { wait, delay }: Pick<Terms, 'wait' | 'delay'>,
  now: number,
): ClaimStep {
  const { attempt, grant, needless } = heard;
  if (needless) return { act: 'leave', known };
  if (grant) {
    const lasts = deadlineOf(grant.sent, grant.validFor - delay) > now && !grant.lost?.aborted;
    return lasts ? { act: 'keep', known } : { act: 'restart', known: { ...known, pauses: known.pauses + 1 } };
  }
  if (!attempt || attempt.granted) return { act: 'pause', known: { ...known, pauses: known.pauses + 1 } };
  if (attempt.late) return { act: 'ask', known };
  if (wait === 0) return { act: 'leave', known };
  // Its turn may come soon when the queue gets shorter. A claim whose place has expired is at the end of the queue again.
  const ahead = attempt.ahead ?? Number.POSITIVE_INFINITY;
  return { act: 'wait', known: { contended: true, ahead, pauses: ahead < known.ahead ? 1 : known.pauses + 1 } };
}
