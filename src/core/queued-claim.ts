import { type AcquireRequest, askedOf } from './acquire-request.ts';
import { type Answer, answerTo, type PiggybackedAttempt } from './answer.ts';
import { type Grant, placeTtlOf } from './backend.ts';
import { deadlineOf, type Granted } from './deadline.ts';
import type { Engine } from './engine.ts';
import { isLockError } from './errors.ts';
import { Listener } from './listener.ts';
import type { NumberedClaim } from './numbered-claim.ts';
import type { ResolvedOptions } from './options.ts';
import { Outage } from './outage.ts';
import { pauseAfter } from './pause.ts';

/** Refusals for lateness in a row that are no trouble yet. */
const MOST_LATE = 3;
/** By how much an engine may be wrong about when a request was sent, ms. */
const LATENESS = 50;

/**
 * One claim standing in the engine's line: attempt, arm the watch, attempt, sleep until woken or until it is time to ask
 * again. However the stand ends, it leaves nothing behind but the hold it gave.
 */
export class QueuedClaim {
  claim: NumberedClaim;
  /** Whose it is now. */
  request: AcquireRequest | undefined;
  readonly outage: Outage;
  /** What was asked for, `delay` included, ms. The claim of one that waits lasts longer. */
  readonly #lease: number;
  readonly #delay: number;
  readonly #engine: Engine;
  readonly #spin: ResolvedOptions['spin'];
  readonly #patient: boolean;
  readonly #onWait: () => void;
  readonly #listener: Listener;
  /** When the last answered attempt was sent, or the first one. */
  #sent: number | undefined;
  #lateInARow = 0;
  /** Until when an attempt of this claim may arrive that was not answered. */
  #lateUntil = 0;
  #cancelled = false;

  /** Who waits keeps asking after a refusal, and `onWait` is called at each. */
  constructor(
    engine: Engine,
    claim: NumberedClaim,
    resolved: ResolvedOptions,
    outage: Outage | undefined,
    onWait: () => void,
  ) {
    this.#engine = engine;
    this.#lease = askedOf(resolved);
    this.#delay = resolved.delay;
    this.outage = outage ?? new Outage(engine.clock.now());
    this.claim = claim;
    this.#spin = resolved.spin;
    this.#patient = resolved.wait > 0;
    this.#onWait = onWait;
    this.#listener = new Listener(engine.backend, engine.clock);
  }

  cancel(): void {
    this.#cancelled = true;
    this.#listener.ring();
  }

  /** Opens the mailbox if that is free now: then the claim may ride on a release, and no grant goes unheard. */
  open(): boolean {
    if (this.#engine.backend.traits.wakes === 'mailbox' && this.#listener.arm(this.claim)) return true;
    this.#listener.disarm();
    return false;
  }

  /**
   * With `piggybacked`, its first attempt is part of a release. Gives undefined when refused and not patient, or cancelled.
   * @throws LockError what the engine refused with, or `LOCK_UNAVAILABLE`
   */
  async stand(piggybacked?: PiggybackedAttempt): Promise<Granted | undefined> {
    const { backend, clock } = this.#engine;
    const { wakes } = backend.traits;
    let kept: Granted | undefined;
    this.#sent = piggybacked?.sent; // sent is sent, whether or not it is ever answered
    if (piggybacked) this.outage.asked(piggybacked.sent);
    try {
      let answer = piggybacked && (await answerTo(piggybacked).catch(() => this.#unanswered(piggybacked.sent)));
      if (answer) this.outage.answered(answer.sent);
      for (let tries = 0; !this.#cancelled; tries++) {
        if (wakes === 'mailbox' && this.claim.queue) this.#listener.arm(this.claim);
        if (!this.#mail) answer ??= await this.#ask();
        const granted = this.#granted(answer);
        if (granted && !granted.lost?.aborted && this.#lasts(granted)) {
          if (!this.#cancelled) kept = granted;
          return kept;
        }
        if (granted) {
          if (granted.validFor <= this.#delay)
            throw new Error(`a hold is good for ${granted.validFor} ms, with its delay`);
          this.#startAnew();
          if (!this.#patient) throw new Error(`the hold, of ${this.#lease} ms, was over before its answer came`);
          answer = undefined;
        }
        if (answer && !this.#patient) {
          this.#sent = undefined; // a refusal without a place leaves nothing to withdraw
          return undefined;
        }
        if (answer) this.#onWait();
        if (answer && wakes === 'watch') this.#listener.arm(this.claim);
        const needs = { ttl: this.#lease, queue: this.claim.queue, placeTtl: this.claim.placeTtl };
        const pause = pauseAfter(answer, wakes, needs, this.#spin, tries, clock.random());
        await this.#listener.sleep(Math.min(pause, this.#untilTold));
        answer = undefined;
      }
      return undefined;
    } catch (error) {
      if (isLockError(error)) throw error;
      throw this.#engine.unavailable(this.claim.key, error, 'What it may have done is being undone; try again');
    } finally {
      this.#listener.disarm();
      if (!kept && this.#sent !== undefined) this.#engine.withdraw(this.claim, this.#lateUntil);
    }
  }

  /** An attempt; undefined when its outcome is unknown and it is worth asking again. */
  async #ask(): Promise<Answer | undefined> {
    const { clock } = this.#engine;
    const sent = clock.now();
    const earlier = this.#sent;
    const before = earlier ?? sent;
    this.#sent = before;
    this.outage.asked(sent);
    try {
      const attempt = await this.#engine.attempt(this.claim);
      if (!attempt.granted && attempt.late) {
        if (++this.#lateInARow <= MOST_LATE) return this.#ask();
        throw new Error(`every request came later than ${this.claim.within} ms`);
      }
      this.#lateInARow = 0;
      this.outage.answered(sent);
      const silence = placeTtlOf(this.claim);
      // The id may have been admitted and have lapsed unheard, so that this is another place in its name: mail for the first
      // one, still on its way, would be taken for a grant of the second.
      if (!attempt.granted && deadlineOf(before, silence) <= clock.now()) this.#listener.doubt();
      this.#sent = sent;
      return { sent, attempt };
    } catch (error) {
      this.outage.failed(error);
      if (!isLockError(error)) this.#unanswered(sent);
      if (this.#listener.mail) return undefined;
      if (isLockError(error)) this.#sent = earlier; // surely without effect: nothing of it is to be withdrawn
      if (isLockError(error) || !this.#patient || this.outage.exceeds(this.#began, sent, clock.now())) throw error;
      return undefined;
    }
  }

  get #began(): number {
    return this.request?.began ?? 0;
  }

  /** In trouble the last attempt is sent when the time is over, not later: only then it ends within the limit of a call. */
  get #untilTold(): number {
    return Math.max(1, this.outage.limit(this.#began) - this.#engine.clock.now());
  }

  #unanswered(sent: number): undefined {
    this.#lateUntil = sent + this.claim.within * 1.01 + LATENESS;
  }

  /** Whether any of it is left; of the lease, too, which is what its holder will count on. */
  #lasts({ sent, validFor }: Granted): boolean {
    const now = this.#engine.clock.now();
    const lease = this.claim.ttl === this.#lease ? validFor : this.#lease;
    return deadlineOf(sent, validFor - this.#delay) > now && deadlineOf(now, lease - this.#delay) > now;
  }

  /** The grant that came by itself. One of which too little is left, since this process stood still, is only a bell: to ask sets it anew. */
  get #mail(): Grant | undefined {
    const { mail } = this.#listener;
    if (!mail || this.claim.ttl === this.#lease || this.#sent === undefined) return mail;
    if (deadlineOf(this.#sent, mail.validFor) < deadlineOf(this.#engine.clock.now(), this.#lease))
      this.#listener.doubt();
    return this.#listener.mail;
  }

  // A refusal that comes after the mail is older than it; a grant is not: the mail may be of an earlier life of the same
  // id, which lapsed unheard.
  #granted(answer: Answer | undefined): Granted | undefined {
    const grant: Grant | undefined = answer?.attempt.granted ? answer.attempt : this.#mail;
    if (!grant || this.#sent === undefined) return undefined;
    const { ticket, span, validFor, lost } = grant;
    return { ticket, span, sent: this.#sent, validFor, lost, lateUntil: this.#lateUntil };
  }

  /** As another claim: an id that is given back is never used again. */
  #startAnew(): void {
    this.#listener.disarm();
    this.#engine.withdraw(this.claim, this.#lateUntil);
    this.claim = { ...this.claim, id: this.#engine.clock.id() };
    this.#sent = undefined;
    this.#lateUntil = 0;
  }
}
