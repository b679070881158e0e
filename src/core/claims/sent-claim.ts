import type { Attempt, Claim, Grant } from '../contract/backend.ts';
import { isLockError } from '../contract/errors.ts';
import { placeTtlOf } from '../contract/lengths.ts';
import type { Enclosing } from '../contract/origin.ts';
import { deadlineOf, type Terms } from '../contract/terms.ts';
import type { Engine } from '../engine/engine.ts';
import { Listener } from '../engine/listener.ts';
import { withdraw } from '../engine/withdrawal.ts';

/** How long a waiter asks an engine that does not answer, ms. */
const TROUBLE = 10_000;
/** One error for all: a stack of its own would say nothing, and cost more than many attempts. */
const UNANSWERED = new Error('no request was answered so far');

/**
 * What went wrong since the engine answered last. It outlives the request that met it: the next one in its place waits for the same
 * engine, and has its own ten seconds from when it began.
 */
export class Outage {
  readonly #opened: number;
  /** The last error since the last answer. Before the first answer: that there was none. */
  #last: unknown = UNANSWERED;
  /** The time at which the last answered request was sent, or else the first one that failed. */
  #since: number | undefined;

  constructor(now: number) {
    this.#opened = now;
  }

  get last(): unknown {
    return this.#last;
  }

  noteAnswer(sent: number): void {
    this.#since = sent;
    this.#last = undefined;
  }

  noteFailure(error: unknown, sent: number): void {
    this.#since ??= sent;
    this.#last = error;
  }

  /** The last error. That there was no answer so far does not count if the first request was sent only after `moment`. */
  by(moment: number): unknown {
    return this.#last === UNANSWERED && this.#opened > moment ? undefined : this.#last;
  }

  /** The time until which a caller that began at `began` waits; Infinity while nothing is wrong. */
  limit(began: number): number {
    return this.#last === undefined ? Number.POSITIVE_INFINITY : Math.max(this.#since ?? began, began) + TROUBLE;
  }

  /** Whether the request that was sent at `sent` and failed now exceeds the limit. The first one does not: this process may have stood still. */
  exceeds(began: number, sent: number, now: number): boolean {
    return now > this.limit(began) && sent > (this.#since ?? sent);
  }
}

/** So many attempts in a row may be refused as too late before the claim fails. */
const MOST_LATE = 3;
/** An engine may be wrong about the time of a request by so many ms. */
const LATENESS = 50;

/** A grant as this process counts on it: for `validFor` ms from before its request was sent. */
export interface LocalGrant {
  readonly ticket: bigint;
  /** As in `Grant`. */
  readonly span?: number | undefined;
  /** The time of the request from which this grant counts. */
  readonly sent: number;
  readonly validFor: number;
  readonly lost?: AbortSignal;
  /** The time until which an unanswered attempt of this claim may still arrive. It would set the lease that it asked for. */
  readonly lateUntil?: number;
  /** Whether its claim was refused first: then others want the key, too. */
  readonly contended?: boolean;
}

/** A claim that is sent together with the release of another claim. */
export interface PiggybackedAttempt {
  /** The time at which the release was sent. */
  readonly sent: number;
  /** The answer for the claim. Undefined: the engine did not take it along. */
  readonly attempt: Promise<Attempt | undefined>;
}

/** A claim, and what its label says of it. */
export interface NumberedClaim extends Claim {
  /** The number of the claim in this process. */
  readonly number: number;
  readonly inside: readonly Enclosing[];
  readonly detects?: number | undefined;
}

/** A claim with all that was sent of it, answered and heard. So it knows what the engine may have of it. */
export class SentClaim {
  claim: NumberedClaim;
  readonly outage: Outage;
  protected readonly engine: Engine;
  protected readonly terms: Terms;
  /** It is there once the claim has been refused. */
  protected listener: Listener | undefined;
  /** The time at which the last answered attempt was sent, or else the first one. Undefined means that the engine can have nothing of the claim. */
  #sent: number | undefined;
  /** What `#sent` was before the attempt that is under way. */
  #earlier: number | undefined;
  #lateInARow = 0;
  /** The time until which an unanswered attempt of this claim may arrive. */
  #lateUntil = 0;

  constructor(engine: Engine, claim: NumberedClaim, terms: Terms, outage = new Outage(engine.clock.now())) {
    this.engine = engine;
    this.terms = terms;
    this.outage = outage;
    this.claim = claim;
  }

  /** The time at which the attempt was sent that was answered last; 0 before there was any. */
  protected get sent(): number {
    return this.#sent ?? 0;
  }

  /** Makes the listener, where there is none yet. */
  protected listen(): Listener {
    this.listener ??= new Listener(this.engine.backend, this.engine.clock);
    return this.listener;
  }

  /** Whether the caller waits, and so asks again after a refusal. */
  get patient(): boolean {
    return this.terms.wait > 0;
  }

  /** @returns undefined when the claim has to be asked again: it was not taken along, came too late, or got no answer */
  protected async answerOf({ sent, attempt }: PiggybackedAttempt): Promise<Attempt | undefined> {
    this.#sent = sent; // it was sent, whether or not an answer ever comes
    try {
      const answer = await attempt;
      if (!answer || (!answer.granted && answer.late)) return undefined;
      this.outage.noteAnswer(sent);
      return answer;
    } catch (error) {
      this.outage.noteFailure(error, sent);
      this.#noAnswer(sent);
      return undefined;
    }
  }

  /**
   * @param began when its caller began to wait
   * @returns undefined when no answer came and it is worth asking again
   * @throws the reason why it is not
   */
  protected async ask(began: number): Promise<Attempt | undefined> {
    this.engine.clock.lookAgain?.(); // a sleep that is found later would count as a part of the lease
    const sent = this.engine.clock.now();
    this.#earlier = this.#sent;
    this.#sent ??= sent;
    const { inquiry } = this.terms;
    if (inquiry) this.claim = { ...this.claim, answered: inquiry.answerable(sent) };
    try {
      return this.#accept(await this.engine.attempt(this.claim), sent);
    } catch (error) {
      this.#handleFailure(error, sent, began);
      return undefined;
    }
  }

  #accept(attempt: Attempt, sent: number): Attempt {
    if (!attempt.granted && attempt.late) {
      if (++this.#lateInARow <= MOST_LATE) return attempt;
      throw new Error(`every request came later than ${this.claim.within} ms`);
    }
    const { clock } = this.engine;
    this.#lateInARow = 0;
    this.outage.noteAnswer(sent);
    // The engine may have admitted the id and let it lapse before we heard of it, so that this is another place in its name. Mail for
    // the first place may still be on its way: it must not pass for a grant of the second.
    if (!attempt.granted && deadlineOf(this.#sent!, placeTtlOf(this.claim)) <= clock.now())
      this.listen().distrustMail();
    this.#sent = sent;
    return attempt;
  }

  /** @throws error when it is not worth asking again */
  #handleFailure(error: unknown, sent: number, began: number): void {
    this.outage.noteFailure(error, sent);
    if (!isLockError(error)) this.#noAnswer(sent);
    if (this.listener?.mail) return;
    if (isLockError(error)) this.#sent = this.#earlier; // surely without effect: nothing of it has to be withdrawn
    if (isLockError(error) || !this.patient || this.outage.exceeds(began, sent, this.engine.clock.now())) throw error;
  }

  #noAnswer(sent: number): void {
    this.#lateUntil = sent + this.claim.within * 1.01 + LATENESS;
  }

  /** Distrusts a grant that came by itself and of which too little is left, since this process stood still: an attempt renews it. */
  protected checkMail({ validFor }: Grant): void {
    const ttl = this.terms.lengths.hold;
    if (this.claim.ttl === ttl || this.#sent === undefined) return;
    if (deadlineOf(this.#sent, validFor) < deadlineOf(this.engine.clock.now(), ttl)) this.listener?.distrustMail();
  }

  /**
   * The grant that this process may count on, by the answer or by mail. A refusal that comes after the mail is older than the mail. A
   * grant is not: the mail may be of an earlier life of the same id, which lapsed before we heard of it.
   */
  protected grantOf(attempt: Attempt | undefined): LocalGrant | undefined {
    const grant: Grant | undefined = attempt?.granted ? attempt : this.listener?.mail;
    if (!grant || this.#sent === undefined) return undefined;
    const { ticket, span, validFor, lost } = grant;
    return { ticket, span, sent: this.#sent, validFor, lost, lateUntil: this.#lateUntil };
  }

  /** Whether some of the grant is left, and some of the lease, which is what the holder will count on. */
  protected lasts({ sent, validFor }: LocalGrant): boolean {
    const now = this.engine.clock.now();
    const { delay } = this.terms;
    const ttl = this.terms.lengths.hold;
    const lease = this.claim.ttl === ttl ? validFor : ttl;
    return deadlineOf(sent, validFor - delay) > now && deadlineOf(now, lease - delay) > now;
  }

  /** A refusal of a claim without a place leaves nothing on the engine. */
  protected forgetSent(): void {
    this.#sent = undefined;
  }

  /** Takes back what the engine may have of it. */
  withdraw(): void {
    if (this.#sent !== undefined) withdraw(this.engine, this.claim, this.#lateUntil);
  }

  /** Goes on as another claim, because an id that was released is never used again. */
  protected startAnew(): void {
    this.listener?.disarm();
    this.withdraw();
    this.claim = { ...this.claim, id: this.engine.clock.id() };
    this.#sent = undefined;
    this.#lateUntil = 0;
  }
}
