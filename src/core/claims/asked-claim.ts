import { type Attempt, type Grant, placeTtlOf } from '../contract/backend.ts';
import { isLockError } from '../contract/errors.ts';
import type { ResolvedOptions } from '../contract/options.ts';
import type { Engine } from '../engine/engine.ts';
import { Listener } from '../engine/listener.ts';
import { Outage } from '../engine/outage.ts';
import { withdraw } from '../engine/withdrawal.ts';
import { type AcquireRequest, askedOf } from '../line/acquire-request.ts';
import { deadlineOf, type Granted } from './deadline.ts';
import type { NumberedClaim } from './numbered-claim.ts';

/** Refusals for lateness in a row that are no trouble yet. */
const MOST_LATE = 3;
/** By how much an engine may be wrong about when a request was sent, ms. */
const LATENESS = 50;

/** A claim on its way with the release of another: when that was sent, and what will be answered, if it is taken along. */
export interface PiggybackedAttempt {
  readonly sent: number;
  readonly attempt: Promise<Attempt | undefined>;
}

/** A claim, and what was sent of it, answered and heard: so it is known what of it the engine may have. */
export class AskedClaim {
  claim: NumberedClaim;
  /** Whose it is now. Without one it leaves the line. */
  request: AcquireRequest | undefined;
  readonly outage: Outage;
  protected readonly engine: Engine;
  protected readonly resolved: ResolvedOptions;
  protected readonly listener: Listener;
  /** When the last answered attempt was sent, or the first one. Undefined: nothing of it can be on the engine. */
  #sent: number | undefined;
  /** As `#sent` was before the attempt that is under way. */
  #earlier: number | undefined;
  #lateInARow = 0;
  /** Until when an attempt of this claim may arrive that was not answered. */
  #lateUntil = 0;

  constructor(engine: Engine, claim: NumberedClaim, resolved: ResolvedOptions, outage: Outage | undefined) {
    this.engine = engine;
    this.resolved = resolved;
    this.outage = outage ?? new Outage(engine.clock.now());
    this.claim = claim;
    this.listener = new Listener(engine.backend, engine.clock);
  }

  /** Who waits keeps asking after a refusal. */
  get patient(): boolean {
    return this.resolved.wait > 0;
  }

  protected get began(): number {
    return this.request?.began ?? 0;
  }

  /** Undefined when it has to be asked again: not taken along, too late, or not answered. */
  protected async takenAlong({ sent, attempt }: PiggybackedAttempt): Promise<Attempt | undefined> {
    this.#sent = sent; // sent is sent, whether or not it is ever answered
    this.outage.asked(sent);
    try {
      const answer = await attempt;
      if (!answer || (!answer.granted && answer.late)) return undefined;
      this.outage.answered(sent);
      return answer;
    } catch {
      return this.#unanswered(sent);
    }
  }

  /**
   * Undefined when it was not answered, and may be asked again.
   * @throws what makes it useless to ask again
   */
  protected async ask(): Promise<Attempt | undefined> {
    this.engine.clock.lookAgain?.(); // a sleep that is found later would count as a part of the lease
    const sent = this.engine.clock.now();
    this.#earlier = this.#sent;
    this.#sent ??= sent;
    this.outage.asked(sent);
    try {
      return this.#answered(await this.engine.attempt(this.claim), sent);
    } catch (error) {
      this.#failed(error, sent);
      return undefined;
    }
  }

  /** The attempt of then was answered. */
  #answered(attempt: Attempt, sent: number): Attempt {
    if (!attempt.granted && attempt.late) {
      if (++this.#lateInARow <= MOST_LATE) return attempt;
      throw new Error(`every request came later than ${this.claim.within} ms`);
    }
    const { clock } = this.engine;
    this.#lateInARow = 0;
    this.outage.answered(sent);
    // The id may have been admitted and have lapsed unheard, so that this is another place in its name: mail for the first
    // one, still on its way, would be taken for a grant of the second.
    if (!attempt.granted && deadlineOf(this.#sent!, placeTtlOf(this.claim)) <= clock.now()) this.listener.doubt();
    this.#sent = sent;
    return attempt;
  }

  /**
   * The outcome of the attempt of then is unknown, and it is worth asking again.
   * @throws error when it is not
   */
  #failed(error: unknown, sent: number): void {
    this.outage.failed(error);
    if (!isLockError(error)) this.#unanswered(sent);
    if (this.listener.mail) return;
    if (isLockError(error)) this.#sent = this.#earlier; // surely without effect: nothing of it is to be withdrawn
    if (isLockError(error) || !this.patient || this.outage.exceeds(this.began, sent, this.engine.clock.now()))
      throw error;
  }

  #unanswered(sent: number): undefined {
    this.#lateUntil = sent + this.claim.within * 1.01 + LATENESS;
  }

  /** The grant that came by itself. One of which too little is left, since this process stood still, is only a bell: to ask sets it anew. */
  protected get mail(): Grant | undefined {
    const { mail } = this.listener;
    const asked = askedOf(this.resolved);
    if (!mail || this.claim.ttl === asked || this.#sent === undefined) return mail;
    if (deadlineOf(this.#sent, mail.validFor) < deadlineOf(this.engine.clock.now(), asked)) this.listener.doubt();
    return this.listener.mail;
  }

  // A refusal that comes after the mail is older than it; a grant is not: the mail may be of an earlier life of the same
  // id, which lapsed unheard.
  protected granted(attempt: Attempt | undefined): Granted | undefined {
    const grant: Grant | undefined = attempt?.granted ? attempt : this.mail;
    if (!grant || this.#sent === undefined) return undefined;
    const { ticket, span, validFor, lost } = grant;
    return { ticket, span, sent: this.#sent, validFor, lost, lateUntil: this.#lateUntil };
  }

  /** Whether any of it is left; of the lease, too, which is what its holder will count on. */
  protected lasts({ sent, validFor }: Granted): boolean {
    const now = this.engine.clock.now();
    const { delay } = this.resolved;
    const asked = askedOf(this.resolved);
    const lease = this.claim.ttl === asked ? validFor : asked;
    return deadlineOf(sent, validFor - delay) > now && deadlineOf(now, lease - delay) > now;
  }

  /** Nothing of it is on the engine: a refusal without a place leaves nothing. */
  protected leftNothing(): void {
    this.#sent = undefined;
  }

  /** What the engine may have of it is taken back. */
  withdraw(): void {
    if (this.#sent !== undefined) withdraw(this.engine, this.claim, this.#lateUntil);
  }

  /** As another claim: an id that is given back is never used again. */
  protected startAnew(): void {
    this.listener.disarm();
    this.withdraw();
    this.claim = { ...this.claim, id: this.engine.clock.id() };
    this.#sent = undefined;
    this.#lateUntil = 0;
  }
}
