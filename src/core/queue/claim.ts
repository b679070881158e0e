import type { Attempt, Grant } from '../contract/backend.ts';
import { inMs, isLockError } from '../contract/errors.ts';
import { placeTtlOf, type Terms } from '../contract/terms.ts';
import type { Engine } from '../engine/engine.ts';
import { Listener } from '../engine/listener.ts';
import { withdraw } from '../engine/withdrawal.ts';
import { type LocalClaim, NOTHING_KNOWN, type PiggybackedAttempt, SentRecord, step } from './claim-step.ts';
import { deadlineOf, type LocalGrant } from './hold-timing.ts';
import { type Outage, pauseAfter } from './pause.ts';

/** The caller that waits for a claim, as the claim sees it. */
export interface Claimant {
  /** The time at which the caller began to wait. */
  readonly began: number;
  /** Notes that the claim was refused, so that the caller waits. */
  beginWait(): void;
}

/**
 * One claim in the engine's queue. It attempts, arms the watch, attempts again if the watch asks for it, and sleeps until the engine wakes it or
 * until it is time to ask again: `step` decides. In the end nothing of the claim stays on the engine but its hold, if it got one.
 */
export class QueuedClaim {
  claim: LocalClaim;
  /** The caller that gets the outcome of the claim. Without a caller the claim leaves the queue. */
  claimant: Claimant | undefined;
  /** The outcome of `pursue`, once `pursue` was called. */
  outcome: Promise<LocalGrant | undefined> | undefined;
  readonly record: SentRecord;
  readonly #engine: Engine;
  readonly #terms: Terms;
  /** Undefined before the claim waits, since most claims are granted at once. */
  #listener: Listener | undefined;

  /** @param outage the outage that the previous claim of this key met */
  constructor(engine: Engine, claim: LocalClaim, terms: Terms, outage?: Outage) {
    this.claim = claim;
    this.record = new SentRecord(claim, terms.spin.bound, outage);
    this.#engine = engine;
    this.#terms = terms;
  }

  leave(): void {
    this.claimant = undefined;
    this.#listen().wake();
  }

  #listen(): Listener {
    this.#listener ??= new Listener(this.#engine.backend, this.#engine.clock);
    return this.#listener;
  }

  /** Watches the claim, if the engine arms a watch at once. Then the claim may be sent with a release, and no grant is missed. */
  watchFirst(): boolean {
    if (this.#engine.backend.traits.wakes === 'buffered' && this.#listen().arm(this.claim)) return true;
    this.#listener?.disarm();
    return false;
  }

  /**
   * @param piggybacked the first attempt, if it is part of a release
   * @returns undefined when the caller does not wait and was refused, or when the claim left the queue
   * @throws LockError the refusal of the engine, or `LOCK_UNAVAILABLE`
   */
  async pursue(piggybacked?: PiggybackedAttempt): Promise<LocalGrant | undefined> {
    const { record } = this;
    let known = NOTHING_KNOWN;
    let kept: LocalGrant | undefined;
    try {
      let attempt = piggybacked && (await record.answerOf(piggybacked, this.#engine.clock));
      while (this.claimant) {
        const answer = this.#listener?.answer;
        if (answer) attempt = answer;
        else if (!(this.#listener && this.#trustedGrant())) attempt ??= await this.ask(this.claimant.began);
        // After such a notification the hold may be gone already, and only another attempt shows that.
        if (this.#listener?.doubt && attempt?.granted) attempt = undefined;
        this.#engine.clock.lookAgain?.(); // the machine may have slept while this process waited for the answer or the notification
        const now = this.#engine.clock.now();
        const grant = record.receive(attempt, this.#listener && this.#trustedGrant(), now);
        const settled = attempt !== undefined && this.#terms.inquiry?.settles(attempt, record.sent ?? 0) === true;
        const next = step(known, { attempt, grant, settled }, this.#terms, now);
        known = next.known;
        switch (next.act) {
          case 'keep':
            kept = known.contended ? { ...grant!, contended: true } : grant;
            return kept;
          case 'leave':
            // A refused claim without a place leaves nothing on the engine, unless an earlier attempt was not answered, and may still arrive.
            if (!answer && !attempt?.granted && record.lateUntil === 0) record.forget();
            return undefined;
          case 'ask':
            attempt = undefined;
            continue;
          case 'restart':
            this.#restart(grant!);
            this.claimant?.beginWait();
            break;
          case 'wait':
            this.claimant?.beginWait();
            if (this.#engine.backend.traits.wakes !== 'never') this.#listen().arm(this.claim, record.sent);
        }
        await this.#listen().sleep(limitedPause(this, this.#engine, this.#terms, attempt, known.pauses - 1));
        attempt = undefined;
      }
      return undefined;
    } catch (error) {
      throw isLockError(error) ? error : this.#engine.unavailable(this.claim.key, error);
    } finally {
      this.#listener?.disarm();
      if (!kept) this.withdraw();
    }
  }

  /**
   * @param began when its caller began to wait
   * @returns undefined when no answer came, but the next attempt may get one
   * @throws the error when another attempt is of no use
   */
  async ask(began: number): Promise<Attempt | undefined> {
    const { record } = this;
    const { clock } = this.#engine;
    clock.lookAgain?.(); // otherwise a sleep of the machine before this line would count as a part of the lease
    const sent = clock.now();
    record.noteSent(sent);
    const { inquiry } = this.#terms;
    if (inquiry) this.claim = { ...this.claim, accepts: inquiry.accepts(sent) };
    try {
      const attempt = await this.#engine.attempt(this.claim, sent);
      if (attempt.granted) return attempt;
      if (attempt.late) record.noteLate();
      // If its place had expired, this attempt took a second one. A grant of the first one, still on its way, must not count for the second.
      else if (deadlineOf(record.sent!, placeTtlOf(this.claim)) <= clock.now()) this.#listen().ignoreGrants();
      return attempt;
    } catch (error) {
      const refused = isLockError(error);
      const outage = record.noteFailure(error, sent, clock.now());
      if (!refused) record.noteUnanswered(sent);
      if (this.#listener?.grant) return undefined;
      if (refused) record.takeBackSent(); // nothing has to be withdrawn
      if (refused || this.#terms.wait === 0 || outage.exceeds(began, sent, clock.now())) throw error;
      return undefined;
    }
  }

  /** Gives the grant of a notification; undefined if this process stood still and too little of the grant remains, so that an attempt has to renew it. */
  #trustedGrant(): Grant | undefined {
    const grant = this.#listener?.grant;
    const { sent } = this.record;
    const ttl = this.#terms.lengths.hold;
    if (!grant || this.claim.ttl === ttl || sent === undefined) return grant;
    if (deadlineOf(sent, grant.validFor) >= deadlineOf(this.#engine.clock.now(), ttl)) return grant;
    this.#listener?.ignoreGrants();
    return undefined;
  }

  /** Takes back what the engine may have granted to the claim. */
  withdraw(): void {
    const { sent, lateUntil } = this.record;
    if (sent !== undefined) withdraw(this.#engine, this.claim, lateUntil);
  }

  /** Continues with a new id, because an id that was released is never used again. */
  #restart({ validFor }: LocalGrant): void {
    const { delay, lengths, wait } = this.#terms;
    if (validFor <= delay) throw new Error(`a hold is good for ${inMs(validFor)}, with its delay`);
    this.#listener?.disarm();
    this.withdraw();
    this.claim = { ...this.claim, id: this.#engine.clock.id() };
    this.record.forget();
    if (wait === 0) throw new Error(`the hold, of ${inMs(lengths.hold)}, was over before its answer came`);
  }
}

/** Gives the pause before the next attempt, ms. */
function limitedPause(
  { claim, claimant, record }: QueuedClaim,
  { backend, clock }: Engine,
  { lengths, spin }: Terms,
  attempt: Attempt | undefined,
  retries: number,
): number {
  const needs = { ttl: lengths.hold, queue: claim.queue, placeTtl: claim.placeTtl };
  const pause = pauseAfter(attempt, backend.traits.wakes, needs, spin, retries, clock.random());
  return record.outage ? record.outage.limited(pause, claimant?.began ?? 0, clock.now()) : pause;
}
