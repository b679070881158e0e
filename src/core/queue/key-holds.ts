import type { NewValue, Release, ValueState } from '../contract/backend.ts';
import type { StoreOutcome } from '../contract/left.ts';
import { CALL_TIMEOUT, type Engine } from '../engine/engine.ts';
import { withdraw, withdrawAt } from '../engine/withdrawal.ts';
import type { AcquireRequest } from './acquire-request.ts';
import { lingerOf, mayPass } from './hand-over.ts';
import { Hold, type HoldKeeper } from './hold.ts';
import { Interim } from './interim.ts';
import type { LineContext } from './line-context.ts';
import { type LocalWaiters, Lookout } from './lookout.ts';
import type { Outage } from './outage.ts';
import type { QueuedClaim } from './queued-claim.ts';
import { releaseWith } from './release-with.ts';
import type { PiggybackedAttempt } from './sent-claim.ts';
import type { Watchdog } from './watchdog.ts';

/** The part of a local line that the holds of its key need. */
export interface Callers extends LocalWaiters {
  /** Gives the place of `request` to the first caller that waits here, if that may have it. @returns that caller */
  replace(request: AcquireRequest, may: (next: AcquireRequest) => boolean): AcquireRequest | undefined;
  /**
   * Gives the place of `request` now to the caller that comes in when it leaves, if the claim of that can go with the release. @returns
   * that claim
   */
  takeSuccessor(request: AcquireRequest): QueuedClaim<AcquireRequest> | undefined;
  /** @param outage the outage that the next caller would meet, too */
  leave(request: AcquireRequest, outage?: Outage): void;
  readonly beginWait: (request: AcquireRequest | undefined) => void;
  /** Refuses the callers here that have waited as long as callers wait for an engine in trouble. */
  refuseAlike(outage: Outage | undefined): void;
}

/** The holds of a key in this process: how they begin, pass from hand to hand, go back to the engine, or end by themselves. */
export class KeyHolds implements HoldKeeper<AcquireRequest> {
  readonly engine: Engine;
  readonly #watchdog: Watchdog;
  readonly #callers: Callers;
  /** Ends when a caller comes that has to wait here. */
  readonly interim: Interim;
  readonly lookout: Lookout;

  constructor({ engine, watchdog }: LineContext, callers: Callers) {
    this.engine = engine;
    this.#watchdog = watchdog;
    this.#callers = callers;
    this.interim = new Interim(engine);
    this.lookout = new Lookout(engine, callers);
  }

  /** Stands in the engine's line with a claim. The request that the claim belongs to at the end gets what comes of it. Never rejects. */
  async serve(queued: QueuedClaim<AcquireRequest>, piggybacked?: PiggybackedAttempt): Promise<void> {
    const { activity } = this.engine;
    activity.begin();
    try {
      const grant = await queued.pursue(this.#callers.beginWait, piggybacked);
      const { request } = queued;
      if (grant && request) this.#begin(new Hold(this, queued.claim, grant, request.terms), request);
      else if (grant) queued.withdraw();
      else if (request) {
        request.grant(undefined);
        this.#callers.leave(request);
      }
    } catch (error) {
      this.#refuse(queued, error);
    } finally {
      queued.request = undefined;
      activity.end();
    }
  }

  #refuse({ request, outage }: QueuedClaim<AcquireRequest>, error: unknown): void {
    if (!request) return;
    request.refuse(error);
    this.#callers.refuseAlike(outage);
    this.#callers.leave(request, outage);
  }

  /** Begins a hold. Its renewal begins before the caller sees the grant. */
  #begin(hold: Hold<AcquireRequest>, request: AcquireRequest): void {
    hold.owner = request;
    request.number = hold.claim.number;
    this.#watchdog.add(hold);
    request.grant(hold); // before listeners are told: one of them may end the wait
    const how = hold.tenure.passes > 0 ? 'handedOver' : 'acquired';
    request.events.tellEnd(how, hold.exclusive ? hold.token : undefined);
    this.lookout.noteGrant(hold);
    this.lookout.add(hold);
    hold.listen();
  }

  /** Looks after the hold no more: it is over. */
  #forget(hold: Hold<AcquireRequest>): void {
    this.#watchdog.remove(hold);
    this.lookout.remove(hold);
  }

  /** Releases a hold: it passes on, is kept for a while, or goes back to the engine. */
  async release(hold: Hold<AcquireRequest>): Promise<boolean> {
    const { owner } = hold;
    if (!owner || hold.life.over) return false;
    const { engine } = this;
    engine.clock.lookAgain?.();
    const now = engine.clock.now();
    if (!hold.timing.lasts(now)) {
      hold.end('its deadline passed without a renewal');
      return false;
    }
    hold.markReleased();
    this.#forget(hold);
    const { waitedFor } = this.#callers;
    if (waitedFor && this.#passOn(hold, owner)) return true;
    const linger = !waitedFor && owner.terms.handOff.linger > 0 ? lingerOf(hold, now) : 0;
    // A key that stays taken is of no use to the callers of this turn.
    if (linger === 0 && (owner.terms.awaitRelease || hold.timing.minHoldLeft(now) > 0))
      return this.#giveUp(hold, owner);
    const leave = async (): Promise<boolean> => this.#passOn(hold, owner) || this.#giveUp(hold, owner);
    if (linger === 0) return this.interim.endTurn(leave);
    this.interim.linger(linger, now, leave);
    return true;
  }

  /** Gives a released hold back to the engine. A release whose outcome is unknown goes on in the background. */
  async #giveUp(hold: Hold<AcquireRequest>, owner: AcquireRequest): Promise<boolean> {
    const { engine } = this;
    const { timing } = hold;
    const now = engine.clock.now();
    const left = timing.minHoldLeft(now);
    // This is set up before the release is sent. The answer to that may come when the time is over, and says nothing about requests that
    // arrived after it.
    if (timing.lateUntil > now) withdrawAt(engine, hold.currentClaim, Math.max(timing.lateUntil, now + left));
    engine.activity.begin();
    try {
      if (left > 0) return await keepTaken(engine, hold, left, () => this.#giveBack(hold, owner));
      return (await this.#giveBack(hold, owner)).freed;
    } catch (error) {
      withdraw(engine, hold.currentClaim);
      owner.events.tell('releaseFailed', hold.exclusive ? hold.token : undefined, { error });
      return false;
    } finally {
      this.#callers.leave(owner);
      engine.activity.end();
    }
  }

  async releaseWith(hold: Hold<AcquireRequest>, leave: NewValue, state: ValueState): Promise<StoreOutcome> {
    const { owner } = hold;
    if (!owner || hold.life.over) return 'gone';
    this.#forget(hold);
    const { told, ended } = releaseWith(this.engine, hold, leave);
    const outcome = await told;
    this.#callers.leave(owner);
    void ended.then((end) => end === 'left' && owner.events.tell('left', hold.token, { state }));
    return outcome;
  }

  attend(hold: Hold<AcquireRequest>): void {
    this.#watchdog.attend(hold);
  }

  onEnd(hold: Hold<AcquireRequest>): void {
    this.#forget(hold);
    takeBack(this.engine, hold, hold.timing.closedUntil);
    if (hold.owner) this.#callers.leave(hold.owner);
  }

  #passOn(hold: Hold<AcquireRequest>, owner: AcquireRequest): boolean {
    const next = this.#callers.replace(owner, (head) => mayPass(hold, head, this.engine.clock.now()));
    if (next) this.#begin(hold.passTo(next.terms), next);
    return next !== undefined;
  }

  /** Gives it back to the engine, in one step with the claim of the next caller here. */
  #giveBack(hold: Hold<AcquireRequest>, owner: AcquireRequest): Promise<Release> {
    const { engine } = this;
    const next = this.#callers.waitedFor ? this.#callers.takeSuccessor(owner) : undefined;
    if (!next) return engine.release(hold.claim);
    const sent = engine.clock.now();
    const released = engine.release(hold.claim, next.claim);
    void this.serve(next, { sent, attempt: released.then((answer) => answer.next) });
    return released;
  }
}

/**
 * Keeps the key taken for the rest of `minHold`: without this process where a hold expires by itself, and otherwise by a pause before
 * `giveBack`.
 */
async function keepTaken(
  engine: Engine,
  hold: Hold<AcquireRequest>,
  left: number,
  giveBack: () => Promise<Release>,
): Promise<boolean> {
  const { traits } = engine.backend;
  if (!traits.expires) {
    await engine.activity.pause(left);
    return (await giveBack()).freed;
  }
  const ttl = Math.max(Math.ceil(left), traits.ttl.min);
  const { settled } = hold; // else an earlier request may arrive after this one, and set its own, longer lease
  const [answer] = await engine.renew([{ ...hold.claim, ttl }], CALL_TIMEOUT).catch(() => []);
  // Without an answer the key might stay taken for the whole lease. That is too long, but never too short.
  if (!settled || answer === undefined || answer === 'unknown') takeBack(engine, hold);
  return typeof answer === 'object';
}

/** Withdraws the claim in the background, when `minHold` and, after an expiry, `delay` are over. */
function takeBack(engine: Engine, { currentClaim, timing }: Hold<AcquireRequest>, closedUntil = 0): void {
  const now = engine.clock.now();
  const kept = Math.max(now + timing.minHoldLeft(now), closedUntil);
  if (kept > now) withdrawAt(engine, currentClaim, Math.max(kept, timing.lateUntil));
  else withdraw(engine, currentClaim, timing.lateUntil);
}
