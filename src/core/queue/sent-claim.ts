import type { Attempt, Claim, Grant } from '../contract/backend.ts';
import { deadlineOf } from '../contract/clock.ts';
import { inMs, isLockError } from '../contract/errors.ts';
import { placeTtlOf, signOfLife } from '../contract/lengths.ts';
import type { Enclosing } from '../contract/origin.ts';
import type { Terms } from '../contract/terms.ts';
import type { Engine } from '../engine/engine.ts';
import { Listener } from '../engine/listener.ts';
import { withdraw } from '../engine/withdrawal.ts';
import { Contact, type Outage, UNANSWERED } from './outage.ts';

/** The number of attempts in a row that may be refused as too late before the claim fails. */
const MOST_LATE = 3;
/** The most by which an engine may be wrong about the time of a request, ms. */
const LATENESS = 50;

/** A grant that this process counts on, for `validFor` ms from just before its request was sent. */
export interface LocalGrant {
  readonly token: bigint;
  /** As in `Grant`. */
  readonly tokenCount?: number | undefined;
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

/** A claim with a record of what was sent, answered and heard. So it knows what the engine may keep for it. */
export class SentClaim {
  claim: NumberedClaim;
  protected readonly engine: Engine;
  protected readonly terms: Terms;
  /** It is there once the claim has been refused. */
  protected listener: Listener | undefined;
  /** The time at which the last answered attempt was sent, or else the first one. Undefined: the engine has nothing of the claim. */
  protected sent: number | undefined;
  /** What `sent` was before the attempt that is under way. */
  #earlier: number | undefined;
  #lateInARow = 0;
  /** The time until which an unanswered attempt of this claim may arrive. */
  #lateUntil = 0;
  /** The time at which it was made. */
  readonly #made: number;
  readonly #contact: Contact;

  /** @param outage the outage that the claim before it met */
  constructor(engine: Engine, claim: NumberedClaim, terms: Terms, outage?: Outage) {
    this.#made = engine.clock.now();
    this.engine = engine;
    this.terms = terms;
    this.#contact = new Contact(outage);
    this.claim = claim;
  }

  /** What is wrong with the engine, if something is. */
  get outage(): Outage | undefined {
    return this.#contact.outage;
  }

  /** Makes the listener, where there is none yet. */
  protected listen(): Listener {
    this.listener ??= new Listener(this.engine.backend, this.engine.clock);
    return this.listener;
  }

  /** Says why a caller heard nothing, if the engine is to blame: the last error, or that a claim made by `moment` got no answer at all. */
  silence(moment: number): unknown {
    if (this.outage) return this.outage.last;
    return this.#contact.answered === undefined && this.#made <= moment ? UNANSWERED : undefined;
  }

  /** Whether the caller waits, and so asks again after a refusal. */
  get patient(): boolean {
    return this.terms.wait > 0;
  }

  /** @returns undefined when the claim has to be asked again: the engine did not take it along, found it too late, or gave no answer */
  protected async answerOf({ sent, attempt }: PiggybackedAttempt): Promise<Attempt | undefined> {
    this.sent = sent; // it was sent, whether or not an answer ever comes
    try {
      const answer = await attempt;
      if (!answer || (!answer.granted && answer.late)) return undefined;
      this.#contact.noteAnswer(sent, this.engine.clock.now());
      return answer;
    } catch (error) {
      this.#noteFailure(error, sent);
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
    this.engine.clock.lookAgain?.(); // a sleep of the machine that is noticed later would count as a part of the lease
    const sent = this.engine.clock.now();
    this.#earlier = this.sent;
    this.sent ??= sent;
    const { inquiry } = this.terms;
    if (inquiry) this.claim = { ...this.claim, accepts: inquiry.answerable(sent) };
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
      throw new Error(`every request came later than ${inMs(this.claim.within)}`);
    }
    const now = this.engine.clock.now();
    this.#lateInARow = 0;
    this.#contact.noteAnswer(sent, now);
    // The engine may have admitted the id and let it expire before this process knew, so that this is a second place with the same id. Mail
    // for the first place may still be on its way, and is no grant of the second.
    if (!attempt.granted && deadlineOf(this.sent!, placeTtlOf(this.claim)) <= now) this.listen().distrustMail();
    this.sent = sent;
    return attempt;
  }

  /** @throws error when it is not worth asking again */
  #handleFailure(error: unknown, sent: number, began: number): void {
    const outage = this.#noteFailure(error, sent);
    if (!isLockError(error)) this.#noAnswer(sent);
    if (this.listener?.mail) return;
    if (isLockError(error)) this.sent = this.#earlier; // the attempt surely had no effect, so nothing has to be withdrawn
    if (isLockError(error) || !this.patient || outage.exceeds(began, sent, this.engine.clock.now())) throw error;
  }

  #noteFailure(error: unknown, sent: number): Outage {
    const pause = Math.max(signOfLife(this.claim), this.claim.queue ? 0 : this.terms.spin.bound);
    return this.#contact.noteFailure(error, sent, this.engine.clock.now(), pause, this.claim.within);
  }

  #noAnswer(sent: number): void {
    this.#lateUntil = sent + this.claim.within * 1.01 + LATENESS;
  }

  /** Distrusts a grant in the mail if too little of it is left, because this process stood still. An attempt then renews it. */
  protected checkMail({ validFor }: Grant): void {
    const ttl = this.terms.lengths.hold;
    if (this.claim.ttl === ttl || this.sent === undefined) return;
    if (deadlineOf(this.sent, validFor) < deadlineOf(this.engine.clock.now(), ttl)) this.listener?.distrustMail();
  }

  /**
   * Gives the grant that this process may count on. A refusal that arrives after the mail was made before it. A grant in the answer counts
   * more: the mail may be about an earlier place of the same id, which expired before this process heard of it.
   */
  protected grantOf(attempt: Attempt | undefined): LocalGrant | undefined {
    const grant: Grant | undefined = attempt?.granted ? attempt : this.listener?.mail;
    if (!grant || this.sent === undefined) return undefined;
    const { token, tokenCount, validFor, lost } = grant;
    return { token, tokenCount, sent: this.sent, validFor, lost, lateUntil: this.#lateUntil };
  }

  /** Takes back what the engine may have granted to the claim. */
  withdraw(): void {
    if (this.sent !== undefined) withdraw(this.engine, this.claim, this.#lateUntil);
  }

  /** Continues with a new id, because an id that was released is never used again. */
  protected startAnew(): void {
    this.listener?.disarm();
    this.withdraw();
    this.claim = { ...this.claim, id: this.engine.clock.id() };
    this.sent = undefined;
    this.#lateUntil = 0;
  }
}
