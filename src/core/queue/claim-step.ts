import type { Attempt, Claim, Grant } from '../contract/backend.ts';
import type { Clock } from '../contract/clock.ts';
import { inMs } from '../contract/errors.ts';
import type { OwnOrigin } from '../contract/origin.ts';
import { signOfLife, type Terms } from '../contract/terms.ts';
import { deadlineOf, type LocalGrant } from './hold-timing.ts';
import { Outage, UNANSWERED } from './pause.ts';

/** A claim of this process. An engine gets its origin as a part of the label. */
export interface LocalClaim extends Claim {
  readonly origin: OwnOrigin;
}

/** What a claim that waits has learnt from the answers so far. */
export interface Known {
  /** Whether the claim was refused: then others want the key, too. */
  readonly contended: boolean;
  /** How many claims stood before this one at the last refusal. */
  readonly ahead: number;
  /** The number of pauses since the queue ahead of the claim last got shorter. */
  readonly pauses: number;
}

export const NOTHING_KNOWN: Known = { contended: false, ahead: Number.POSITIVE_INFINITY, pauses: 0 };

/** What a claim has received since its last step. */
export interface Received {
  /** The answer of the engine; undefined if none came. */
  readonly attempt: Attempt | undefined;
  /** The grant of the answer, or of a notification. */
  readonly grant: LocalGrant | undefined;
  /** Whether the request needs no hold any more, since a value of a memo has settled it. */
  readonly settled: boolean;
}

/**
 * What a claim does next. `keep`: the process has the hold. `restart`: too little of the grant remains, so give it back, pause, and ask under another
 * id. `ask`: ask again at once, since the attempt came too late. `wait`: pause as a claim that the engine may wake. `pause`: nobody knows what the
 * engine did, so ask again later. `leave`: ask no more, since its caller does not wait, or needs no hold.
 */
export interface ClaimStep {
  readonly act: 'keep' | 'restart' | 'ask' | 'wait' | 'pause' | 'leave';
  readonly known: Known;
}

export function step(
  known: Known,
  { attempt, grant, settled }: Received,
  { wait, delay }: Pick<Terms, 'wait' | 'delay'>,
  now: number,
): ClaimStep {
  if (settled) return { act: 'leave', known };
  if (grant) {
    const lasts = deadlineOf(grant.sent, grant.validFor - delay) > now && !grant.lost?.aborted;
    return lasts ? { act: 'keep', known } : { act: 'restart', known: { ...known, pauses: known.pauses + 1 } };
  }
  if (!attempt || attempt.granted) return { act: 'pause', known: { ...known, pauses: known.pauses + 1 } };
  if (attempt.late) return { act: 'ask', known };
  if (wait === 0) return { act: 'leave', known };
  // If the queue ahead got shorter, the turn of the claim may come soon, so the pauses begin with the shortest again. If its place has expired, the
  // claim is at the end of the queue, and its pauses get longer.
  const ahead = attempt.ahead ?? Number.POSITIVE_INFINITY;
  return { act: 'wait', known: { contended: true, ahead, pauses: ahead < known.ahead ? 1 : known.pauses + 1 } };
}

/** The most by which a timer may be late while the process runs, ms. */
const MAX_TIMER_DELAY_MS = 50;
/** The number of attempts in a row that may be refused as too late before the claim fails. */
const MAX_LATE_ATTEMPTS = 3;
/** The most by which an engine may be wrong about the time of a request, ms. */
const MAX_LATENESS_MS = 50;

/** Gives the time for which the process surely stood still, ms: a step took `took` ms, and takes at most `longest` ms by itself. */
const standstill = (took: number, longest: number): number => Math.max(0, took - longest - MAX_TIMER_DELAY_MS);

/** A claim that is sent together with the release of another claim. */
export interface PiggybackedAttempt {
  /** The time at which the release was sent. */
  readonly sent: number;
  /** The answer for the claim. Undefined: the engine did not attempt it with the release. */
  readonly attempt: Promise<Attempt | undefined>;
}

/** Records what was sent for a claim and answered, and so knows what the engine may have of the claim, and whether the engine is in trouble. */
export class SentRecord {
  /** What is wrong with the engine, if something is. */
  outage: Outage | undefined;
  /** The time at which the last answered attempt was sent, or the first attempt if none was answered. Undefined: the engine has nothing of the claim. */
  sent: number | undefined;
  /** The time until which an unanswered attempt may arrive. */
  lateUntil = 0;
  readonly #claim: Claim;
  readonly #spinBound: number;
  /** The time at which the first attempt was sent. */
  #began: number | undefined;
  /** The time at which the request under way was sent. */
  #asked: number | undefined;
  /** What `sent` was before the request under way. */
  #earlier: number | undefined;
  /** The time at which the last answered request was sent. */
  #answered: number | undefined;
  /** The time of the last step of the claim, or of the last failure. */
  #ended: number | undefined;
  #lateInARow = 0;

  /**
   * @param spinBound the longest pause of a claim without a place, ms
   * @param outage the outage that the previous claim of this key met
   */
  constructor(claim: Claim, spinBound: number, outage: Outage | undefined) {
    this.#claim = claim;
    this.#spinBound = spinBound;
    this.outage = outage;
  }

  /** Gives why no answer came, if the engine is to blame: the last error, or `UNANSWERED` if the claim asked by `moment` and got no answer. */
  silence(moment: number): unknown {
    if (this.outage) return this.outage.last;
    return this.#answered === undefined && this.#began !== undefined && this.#began <= moment ? UNANSWERED : undefined;
  }

  noteSent(now: number): void {
    this.#asked = now;
    this.#earlier = this.sent;
    this.#began ??= now;
    this.sent ??= now;
  }

  /** Notes that the engine received a request too late. @throws Error when this happened too often in a row */
  noteLate(): void {
    if (++this.#lateInARow > MAX_LATE_ATTEMPTS)
      throw new Error(`every request came later than ${inMs(this.#claim.within)}`);
  }

  /**
   * Notes what the claim has received until `now`. If there are a refusal and the grant of a notification, the grant is newer. If there are two
   * grants, the grant of the answer counts: the notification may be about an earlier place of the same id, which has expired since.
   * @param attempt the answer of the engine, if one came
   * @param notified the grant of a notification
   * @returns the grant that this process may count on
   */
  receive(attempt: Attempt | undefined, notified: Grant | undefined, now: number): LocalGrant | undefined {
    const asked = this.#asked;
    this.#asked = undefined;
    this.#ended = now;
    if (asked !== undefined && attempt && (attempt.granted || !attempt.late)) {
      this.#lateInARow = 0;
      this.#answered = asked;
      this.outage = undefined;
      this.sent = asked;
    }
    const grant: Grant | undefined = attempt?.granted ? attempt : notified;
    if (!grant || this.sent === undefined) return undefined;
    const { token, tokenCount, validFor, lost } = grant;
    return { token, tokenCount, sent: this.sent, since: now, validFor, lost, lateUntil: this.lateUntil };
  }

  noteFailure(error: unknown, sent: number, now: number): Outage {
    this.#asked = undefined;
    const claim = this.#claim;
    const pause = Math.max(signOfLife(claim), claim.queue ? 0 : this.#spinBound);
    this.outage ??= new Outage(this.#answered ?? sent, error);
    const stoodStill = standstill(sent - (this.#ended ?? sent), pause) + standstill(now - sent, claim.within);
    this.outage.noteError(error, stoodStill);
    this.#ended = now;
    return this.outage;
  }

  /**
   * Waits for the answer to a claim that was sent with a release.
   * @returns undefined when the claim has to be asked again: the engine did not attempt it, found it too late, or gave no answer
   */
  async answerOf({ sent, attempt }: PiggybackedAttempt, clock: Clock): Promise<Attempt | undefined> {
    this.noteSent(sent);
    try {
      const answer = await attempt;
      return answer && (answer.granted || !answer.late) ? answer : undefined;
    } catch (error) {
      this.noteFailure(error, sent, clock.now());
      this.noteUnanswered(sent);
      return undefined;
    }
  }

  /** Notes that an unanswered request may still arrive. @param sent when the request was sent */
  noteUnanswered(sent: number): void {
    this.lateUntil = sent + this.#claim.within * 1.01 + MAX_LATENESS_MS;
  }

  /** Notes that the last attempt surely had no effect. */
  takeBackSent(): void {
    this.sent = this.#earlier;
  }

  /** Notes that the engine has nothing of the claim, or of its new id. */
  forget(): void {
    this.sent = undefined;
    this.lateUntil = 0;
  }
}
