import type { Attempt, Claim, Grant } from '../contract/backend.ts';
import { type Clock, deadlineOf } from '../contract/clock.ts';
import { inMs } from '../contract/errors.ts';
import type { OwnOrigin } from '../contract/origin.ts';
import { signOfLife, type Terms } from '../contract/terms.ts';
import { Outage, UNANSWERED } from './pause.ts';

/** A claim of this process. An engine gets its origin as a part of the label. */
export interface LocalClaim extends Claim {
  readonly origin: OwnOrigin;
}

/** A grant that this process counts on, for `validFor` ms from just before its request was sent. */
export interface LocalGrant {
  readonly token: bigint;
  /** As in `Grant`. */
  readonly tokenCount?: number | undefined;
  /** When the request was sent from which the lease of this grant counts. */
  readonly sent: number;
  /** The time at which this process began to count on it. */
  readonly since: number;
  readonly validFor: number;
  readonly lost?: AbortSignal | undefined;
  /** The time until which an unanswered attempt of this claim may still arrive. It would set the lease that it asked for. */
  readonly lateUntil?: number;
  /** Whether its claim was refused first: then others want the key, too. */
  readonly contended?: boolean;
}

/**
 * Gives the grant that this process may count on. A refusal that arrives after a notified grant was made before it. A grant in the answer counts more:
 * the notified one may belong to an earlier place of the same id, which expired before the notification arrived.
 */
export function countedGrant(
  attempt: Attempt | undefined,
  notified: Grant | undefined,
  { sent, lateUntil }: Pick<SentRecord, 'sent' | 'lateUntil'>,
  now: number,
): LocalGrant | undefined {
  const grant: Grant | undefined = attempt?.granted ? attempt : notified;
  if (!grant || sent === undefined) return undefined;
  const { token, tokenCount, validFor, lost } = grant;
  return { token, tokenCount, sent, since: now, validFor, lost, lateUntil };
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

/** The most by which a timer of a process that runs is late, ms. */
const MAX_TIMER_DELAY_MS = 50;
/** The number of attempts in a row that may be refused as too late before the claim fails. */
const MAX_LATE_ATTEMPTS = 3;
/** The most by which an engine may be wrong about the time of a request, ms. */
const MAX_LATENESS_MS = 50;

/** Gives how long the process surely stood still while something `took` ms that takes no longer than `longest`, ms. */
const standstill = (took: number, longest: number): number => Math.max(0, took - longest - MAX_TIMER_DELAY_MS);

/** A claim that is sent together with the release of another claim. */
export interface PiggybackedAttempt {
  /** The time at which the release was sent. */
  readonly sent: number;
  /** The answer for the claim. Undefined: the engine did not take it along. */
  readonly attempt: Promise<Attempt | undefined>;
}

/** What was sent for a claim, and what came of that. So it knows what the engine may have for it, and whether that is in trouble. */
export class SentRecord {
  /** What is wrong with the engine, if something is. */
  outage: Outage | undefined;
  /** The time at which the last answered attempt was sent, or else the first one. Undefined: the engine has nothing of the claim. */
  sent: number | undefined;
  /** The time until which an unanswered attempt may arrive. */
  lateUntil = 0;
  readonly #claim: Claim;
  readonly #spinBound: number;
  /** The time at which the first attempt was sent. */
  #began: number | undefined;
  /** What `sent` was before the attempt that is under way. */
  #earlier: number | undefined;
  /** The time at which the last answered request was sent. */
  #answered: number | undefined;
  /** The time at which the last request was answered or failed. */
  #ended: number | undefined;
  #lateInARow = 0;

  /**
   * @param spinBound the longest pause of a claim without a place, ms
   * @param outage the outage that the claim before it met
   */
  constructor(claim: Claim, spinBound: number, outage: Outage | undefined) {
    this.#claim = claim;
    this.#spinBound = spinBound;
    this.outage = outage;
  }

  /** Says why a caller heard nothing, if the engine is to blame: the last error, or that a claim asked by `moment` got no answer at all. */
  silence(moment: number): unknown {
    if (this.outage) return this.outage.last;
    return this.#answered === undefined && this.#began !== undefined && this.#began <= moment ? UNANSWERED : undefined;
  }

  noteSent(now: number): void {
    this.#earlier = this.sent;
    this.#began ??= now;
    this.sent ??= now;
  }

  /** Notes an answer to what was sent at `sent`. @throws when too many in a row say that the request came too late */
  noteAnswer(attempt: Attempt, sent: number, now: number): void {
    if (!attempt.granted && attempt.late) {
      if (++this.#lateInARow <= MAX_LATE_ATTEMPTS) return;
      throw new Error(`every request came later than ${inMs(this.#claim.within)}`);
    }
    this.#lateInARow = 0;
    this.#answered = sent;
    this.#ended = now;
    this.outage = undefined;
    this.sent = sent;
  }

  noteFailure(error: unknown, sent: number, now: number): Outage {
    const claim = this.#claim;
    const pause = Math.max(signOfLife(claim), claim.queue ? 0 : this.#spinBound);
    this.outage ??= new Outage(this.#answered ?? sent);
    const stoodStill = standstill(sent - (this.#ended ?? sent), pause) + standstill(now - sent, claim.within);
    this.outage.noteError(error, stoodStill);
    this.#ended = now;
    return this.outage;
  }

  /**
   * Notes the answer for a claim that was sent with a release.
   * @returns undefined when the claim has to be asked again: the engine did not take it along, found it too late, or gave no answer
   */
  async answerOf({ sent, attempt }: PiggybackedAttempt, clock: Clock): Promise<Attempt | undefined> {
    this.#began = sent;
    this.sent = sent; // it was sent, whether or not an answer ever comes
    try {
      const answer = await attempt;
      if (!answer || (!answer.granted && answer.late)) return undefined;
      this.noteAnswer(answer, sent, clock.now());
      return answer;
    } catch (error) {
      this.noteFailure(error, sent, clock.now());
      this.noteUnanswered(sent);
      return undefined;
    }
  }

  /** Notes that what was sent at `sent` may arrive yet. */
  noteUnanswered(sent: number): void {
    this.lateUntil = sent + this.#claim.within * 1.01 + MAX_LATENESS_MS;
  }

  /** Notes that the last attempt surely had no effect. */
  takeBackSent(): void {
    this.sent = this.#earlier;
  }

  /** Notes that the engine has nothing of the claim, or of the id under which it goes on. */
  forget(): void {
    this.sent = undefined;
    this.lateUntil = 0;
  }
}
