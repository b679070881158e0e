import type { Attempt, Claim } from '../contract/backend.ts';
import type { Clock } from '../contract/clock.ts';
import { inMs } from '../contract/errors.ts';
import { signOfLife } from '../contract/lengths.ts';

/** The time for which a waiter asks an engine that does not answer, ms. */
export const TROUBLE = 10_000;
/** All claims share this error: a stack for each would say nothing, and cost more than many attempts. */
export const UNANSWERED = new Error('no request was answered so far');

/** The most by which a timer of a process that runs is late, ms. */
const MAX_TIMER_DELAY_MS = 50;
/** The number of attempts in a row that may be refused as too late before the claim fails. */
const MAX_LATE_ATTEMPTS = 3;
/** The most by which an engine may be wrong about the time of a request, ms. */
const MAX_LATENESS_MS = 50;

/** Gives how long the process surely stood still while something `took` ms that takes no longer than `longest`, ms. */
const standstill = (took: number, longest: number): number => Math.max(0, took - longest - MAX_TIMER_DELAY_MS);

/**
 * What went wrong since the engine answered last. It outlives the request that met it: the next one in its place waits for the same
 * engine, and has its own ten seconds from when it began.
 */
export class Outage {
  /** The time at which the last answered request was sent, or else the first one that failed. */
  #since: number;
  /** The last error. */
  last: unknown;

  constructor(since: number, error: unknown) {
    this.#since = since;
    this.last = error;
  }

  /** Leaves out a time in which this process stood still: the engine was not asked. */
  leaveOut(ms: number): void {
    this.#since += ms;
  }

  /** The time until which a caller that began at `began` waits. */
  limit(began: number): number {
    return Math.max(this.#since, began) + TROUBLE;
  }

  /** Whether the request that was sent at `sent` and failed now exceeds the limit. The first one does not. */
  exceeds(began: number, sent: number, now: number): boolean {
    return now > this.limit(began) && sent > this.#since;
  }
}

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
  readonly #made: number;
  /** What `sent` was before the attempt that is under way. */
  #earlier: number | undefined;
  /** The time at which the last answered request was sent. */
  #answered: number | undefined;
  /** The time at which the last request was answered or failed. */
  #ended: number | undefined;
  #lateInARow = 0;

  /**
   * @param spinBound the longest pause of a claim without a place, ms
   * @param made the time at which the claim was made
   * @param outage the outage that the claim before it met
   */
  constructor(claim: Claim, spinBound: number, made: number, outage: Outage | undefined) {
    this.#claim = claim;
    this.#spinBound = spinBound;
    this.#made = made;
    this.outage = outage;
  }

  /** Says why a caller heard nothing, if the engine is to blame: the last error, or that a claim made by `moment` got no answer at all. */
  silence(moment: number): unknown {
    if (this.outage) return this.outage.last;
    return this.#answered === undefined && this.#made <= moment ? UNANSWERED : undefined;
  }

  noteSent(now: number): void {
    this.#earlier = this.sent;
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
    this.outage ??= new Outage(this.#answered ?? sent, error);
    this.outage.last = error;
    this.outage.leaveOut(standstill(sent - (this.#ended ?? sent), pause) + standstill(now - sent, claim.within));
    this.#ended = now;
    return this.outage;
  }

  /**
   * Notes the answer for a claim that was sent with a release.
   * @returns undefined when the claim has to be asked again: the engine did not take it along, found it too late, or gave no answer
   */
  async answerOf({ sent, attempt }: PiggybackedAttempt, clock: Clock): Promise<Attempt | undefined> {
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

  /** Notes that the claim goes on under an id of which the engine knows nothing. */
  restart(): void {
    this.sent = undefined;
    this.lateUntil = 0;
  }
}
