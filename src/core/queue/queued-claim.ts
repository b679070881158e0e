import { isExclusive, type Units } from '../contract/admission.ts';
import type { Attempt } from '../contract/backend.ts';
import { deadlineOf } from '../contract/clock.ts';
import { inMs, isLockError } from '../contract/errors.ts';
import { type Circumstances, labelFor, type ProcessName } from '../contract/origin.ts';
import type { Terms } from '../contract/terms.ts';
import { CALL_TIMEOUT, type Engine } from '../engine/engine.ts';
import type { Outage } from './outage.ts';
import { pauseAfter } from './pause.ts';
import { type LocalGrant, type NumberedClaim, type PiggybackedAttempt, SentClaim } from './sent-claim.ts';

/** The part of a request that its claim needs. */
export interface Requester {
  /** The time at which its caller began to wait. */
  readonly began: number;
  /** The claim of the request in the engine's line. */
  queued: unknown;
  /** The number of that claim in this process. */
  number: number | undefined;
}

/**
 * The meaning of an answer. `held`: the process has the hold. `over`: too little is left of the grant. `late`: the engine knows the time
 * by now, so ask at once. `refused`: wait. `unknown`: no answer came, so ask again.
 */
type Verdict = 'held' | 'over' | 'late' | 'refused' | 'unknown';

function verdictOn(
  attempt: Attempt | undefined,
  grant: LocalGrant | undefined,
  { delay }: Terms,
  now: number,
): Verdict {
  if (grant) {
    const lasts = deadlineOf(grant.sent, grant.validFor - delay) > now;
    return lasts && !grant.lost?.aborted ? 'held' : 'over';
  }
  if (!attempt) return 'unknown';
  return !attempt.granted && attempt.late ? 'late' : 'refused';
}

/** Gives how many claims stand before it; infinite where the engine does not tell. */
const aheadOf = (attempt: Attempt | undefined): number =>
  (attempt?.granted === false ? attempt.ahead : undefined) ?? Number.POSITIVE_INFINITY;

/**
 * One claim in the engine's line. It attempts, arms the watch, attempts again if the watch asks for it, and sleeps until the engine wakes
 * it or until it is time to ask again. However that ends, it leaves nothing behind but the hold that it gave.
 */
export class QueuedClaim<R extends Requester> extends SentClaim {
  /** The request that gets what comes of the claim. Without one the claim leaves the line. */
  request: R | undefined;

  /** Gives the claim to this request, from now on. */
  assign(request: R): void {
    this.request = request;
    request.queued = this;
    request.number = this.claim.number;
  }

  leave(): void {
    this.request = undefined;
    this.listen().ring();
  }

  /** Opens the mailbox, if the engine does so at once. Then the claim may be sent with a release, and no grant is missed. */
  openMailbox(): boolean {
    if (this.engine.backend.traits.wakes === 'mailbox' && this.listen().arm(this.claim)) return true;
    this.listener?.disarm();
    return false;
  }

  /**
   * @param onRefusal called at each refusal of a caller that waits
   * @param piggybacked its first attempt, if that is part of a release
   * @returns undefined when the caller does not wait and was refused, or when the claim left the line
   * @throws LockError the refusal of the engine, or `LOCK_UNAVAILABLE`
   */
  async pursue(
    onRefusal: (request: R | undefined) => void,
    piggybacked?: PiggybackedAttempt,
  ): Promise<LocalGrant | undefined> {
    const { wakes } = this.engine.backend.traits;
    let kept: LocalGrant | undefined;
    let contended = false;
    try {
      let attempt = piggybacked && (await this.answerOf(piggybacked));
      for (let [tries, ahead] = [0, Number.POSITIVE_INFINITY]; this.request; ) {
        if (this.listener?.mail) this.checkMail(this.listener.mail);
        const value = this.listener?.left;
        if (value) attempt = { granted: false, value };
        if (!this.listener?.mail) attempt ??= await this.ask(this.request.began);
        if (attempt && this.terms.inquiry?.hears(attempt, this.sent ?? 0)) {
          if (!attempt.granted && !value) this.sent = undefined;
          return undefined;
        }
        if (this.listener?.mail) this.checkMail(this.listener.mail);
        const grant = this.grantOf(attempt);
        switch (verdictOn(attempt, grant, this.terms, this.engine.clock.now())) {
          case 'held':
            kept = contended ? { ...grant!, contended } : grant;
            return kept;
          case 'over':
            this.#tooLate(grant!);
            break;
          case 'late':
            attempt = undefined;
            continue;
          case 'refused':
            if (!this.patient) {
              this.sent = undefined; // a claim without a place leaves nothing on the engine
              return undefined;
            }
            contended = true;
            onRefusal(this.request);
            if (wakes !== 'never') this.listen().arm(this.claim, this.sent);
            // Its turn may come soon when the line gets shorter. A claim whose place has expired is at the end of the line again.
            if (aheadOf(attempt) < ahead) tries = 0;
            ahead = aheadOf(attempt);
        }
        await this.listen().sleep(this.#pauseAfter(attempt, tries++));
        attempt = undefined;
      }
      return undefined;
    } catch (error) {
      if (isLockError(error)) throw error;
      throw this.engine.unavailable(this.claim.key, error, 'What it may have done is being undone; try again');
    } finally {
      this.listener?.disarm();
      if (!kept) this.withdraw();
    }
  }

  #tooLate({ validFor }: LocalGrant): void {
    if (validFor <= this.terms.delay) throw new Error(`a hold is good for ${inMs(validFor)}, with its delay`);
    this.startAnew();
    if (!this.patient)
      throw new Error(`the hold, of ${inMs(this.terms.lengths.hold)}, was over before its answer came`);
  }

  /**
   * If the engine is in trouble, the last attempt is sent no later than at the end of the outage's limit, so that it ends within the limit
   * of a call.
   */
  #pauseAfter(attempt: Attempt | undefined, tries: number): number {
    const { backend, clock } = this.engine;
    const { queue, placeTtl } = this.claim;
    const needs = { ttl: this.terms.lengths.hold, queue, placeTtl };
    const pause = pauseAfter(attempt, backend.traits.wakes, needs, this.terms.spin, tries, clock.random());
    const limit = this.outage?.limit(this.request?.began ?? 0) ?? Number.POSITIVE_INFINITY;
    return Math.min(pause, Math.max(1, limit - clock.now()));
  }
}

/** The wish of a caller: units of a key, on its terms. */
export interface SeatRequest {
  readonly key: string;
  readonly seats: Units;
  readonly terms: Terms;
}

/** A request for units, with the facts that the label of its claim tells. */
interface ClaimableRequest extends Requester, SeatRequest {
  /** The words of the label beside the number of the claim; undefined if there are none. */
  circumstances(): Circumstances | undefined;
}

const NOTHING: readonly never[] = [];

/**
 * Makes the claim for a request. Its id is new each time: an id that was given back is never used again.
 * @param outage the outage that the claim before it met
 */
export function claimFor<R extends ClaimableRequest>(
  request: R,
  engine: Engine,
  name: ProcessName,
  outage?: Outage,
): QueuedClaim<R> {
  const { key, seats, terms } = request;
  const { backend, clock } = engine;
  const { lengths } = terms;
  const id = clock.id();
  const number = name.next(id);
  const circumstances = request.circumstances();
  const queue = terms.wait > 0 && backend.traits.fair;
  const claim: NumberedClaim = {
    key,
    id,
    units: seats.units,
    capacity: seats.capacity,
    readWrite: seats.readWrite,
    ttl: queue ? lengths.waiter : lengths.hold,
    queue,
    placeTtl: queue ? lengths.place : undefined,
    tokenCount: isExclusive(seats) ? terms.handOff.max + 1 : 1,
    within: Math.min(CALL_TIMEOUT, Math.max(lengths.lease / 2, 100)),
    accepts: terms.inquiry?.answerable(clock.now()),
    lingers: terms.minHold > 0 || terms.delay > 0,
    label: labelFor(terms.label, name.word!, number, circumstances),
    number,
    inside: circumstances?.inside ?? NOTHING,
    detects: circumstances?.detects,
  };
  return new QueuedClaim<R>(engine, claim, terms, outage);
}
