import { ArrivalQueue } from '../contract/admission.ts';
import type { NewValue, ValueState } from '../contract/backend.ts';
import { channels } from '../contract/events.ts';
import type { StoreOutcome } from '../contract/values.ts';
import { CALL_TIMEOUT_MS, type Engine } from '../engine/engine.ts';
import { withdraw, withdrawAt } from '../engine/withdrawal.ts';
import type { QueuedClaim } from './claim.ts';
import type { PiggybackedAttempt } from './claim-step.ts';
import { endGone } from './eviction.ts';
import { currentClaim, Hold, type HoldKeeper, type HoldOwner, passedTo } from './hold.ts';
import { Interim } from './interim.ts';
import { Lookout } from './lookout.ts';
import { Outage } from './pause.ts';
import { lingerOf, releaseActOf } from './release.ts';
import { releaseWith } from './release-with.ts';
import { type AcquireRequest, claimFor } from './request.ts';
import type { Watchdog } from './watchdog.ts';

/** The number of queues that are kept for the next use of their keys, so that a busy key does not need a new one each time. */
const MAX_IDLE_QUEUES = 1_000;

/** The claims and holds of a key in this process: how they begin, pass from hand to hand, go back to the engine, or end by themselves. */
export class KeyHolds implements HoldKeeper {
  readonly engine: Engine;
  readonly #watchdog: Watchdog;
  readonly #queues: { readonly size: number };
  readonly #onLeave: () => void;
  /** The requests of this process, in order of arrival. A request is inside while it holds the key or stands in the engine's queue. */
  readonly queue = new ArrivalQueue<AcquireRequest>();
  /** The requests that stand in the engine's queue, or hold, before their turn in this process: some with `detect`, and those of `#standApart`. */
  readonly apart = new Set<AcquireRequest>();
  /** Keeps released holds for a while, or until a caller has to wait here. */
  readonly interim: Interim;
  /** Undefined before the first hold that may expire. */
  lookout: Lookout | undefined;

  /**
   * @param queues the queues of all keys
   * @param onLeave called when a request has left, while there are too many queues
   */
  constructor(engine: Engine, watchdog: Watchdog, queues: { readonly size: number }, onLeave: () => void) {
    this.engine = engine;
    this.#queues = queues;
    this.#watchdog = watchdog;
    this.#onLeave = onLeave;
    this.interim = new Interim(engine);
  }

  /** Serves a request with a claim, until the request is settled, or another request has taken over the claim. Never rejects. */
  async serve(request: AcquireRequest, queued: QueuedClaim, piggybacked?: PiggybackedAttempt): Promise<void> {
    const { activity } = this.engine;
    activity.begin();
    try {
      queued.claimant = request;
      request.queued = queued;
      request.number = queued.claim.origin.claim;
      queued.outcome ??= queued.pursue(piggybacked);
      const grant = await queued.outcome;
      if (queued.claimant !== request) {
        if (grant && request.queued === queued) queued.withdraw(); // the request gave up meanwhile
      } else if (grant) this.#begin(new Hold(this, request, queued.claim, grant), request);
      else {
        request.grant(undefined);
        this.leave(request);
      }
    } catch (error) {
      if (queued.claimant === request) this.#refuse(request, error, queued.record.outage);
    } finally {
      if (queued.claimant === request) queued.claimant = undefined;
      activity.end();
    }
  }

  /** Refuses a request and, in an outage, the other requests here without a claim that have waited up to the limit of the outage. */
  #refuse(request: AcquireRequest, error: unknown, outage: Outage | undefined): void {
    request.refuse(error);
    const now = this.engine.clock.now();
    for (const other of outage && now >= outage.limit(0) ? this.queue.members : []) {
      if (other.queued || other.isSettled || now < outage!.limit(other.began)) continue;
      other.refuse(this.engine.unavailable(other.key, outage!.last, 'Another caller in this process asked; try again'));
      this.leave(other, outage);
    }
    this.leave(request, outage);
  }

  /** Begins a hold. Its renewal begins before the caller sees the grant. */
  #begin(hold: Hold, request: AcquireRequest): void {
    this.#watchdog.add(hold);
    request.grant(hold); // before listeners are notified, since a listener may end the wait
    const how = hold.tenure.passes > 0 ? 'handedOver' : 'acquired';
    if (channels[how].hasSubscribers) request.events.publishEnd(how, hold.exclusive ? hold.token : undefined);
    if (hold.timing.mayExpire) this.lookout ??= new Lookout(this.engine, this.queue, () => this.#standApart());
    this.lookout?.begin(hold);
    if (hold.lost) hold.listeners.follow(hold.lost, () => void endGone(hold, 'the engine ended it'));
  }

  /** Lets the first caller that waits here stand in the engine's queue, too, unless a request in `apart` still waits there. */
  #standApart(): void {
    const { head } = this.queue;
    if (!head || [...this.apart].some(({ isSettled }) => !isSettled)) return;
    void this.serve(head, claimFor(head));
    this.leave(head); // only after its claim was sent: the requests behind it may enter now, and send their claims
    this.apart.add(head);
  }

  #forget(hold: Hold): void {
    this.#watchdog.remove(hold);
    this.lookout?.remove(hold);
  }

  /** @param isLast whether the hold has lingered, or waited a turn */
  passOn(hold: Hold, now: number, isLast = false): boolean | Promise<boolean> {
    if (!isLast) this.#forget(hold);
    const { queue } = this;
    const { head } = queue;
    // If the engine has granted the key to a caller in `apart`, it has ended this hold.
    const isNext = head && queue.isInside(hold.owner) && ![...this.apart].some(({ isSettled }) => isSettled);
    const next = isNext ? head : undefined;
    const isWaitedFor = head !== undefined || this.apart.size > 0; // after a caller in `apart`, others may be there already
    switch (releaseActOf(hold, next, isWaitedFor, isLast || this.interim.isClosed, now)) {
      case 'pass':
        queue.replace(hold.owner, next!);
        this.#begin(passedTo(next!, now, hold), next!);
        return true;
      case 'linger':
        this.interim.linger(lingerOf(hold, now), now, () => this.#passOnLater(hold));
        return true;
      case 'wait a turn':
        return this.interim.endTurn(() => this.#passOnLater(hold));
      case 'keep':
      case 'give back':
        return giveUp(this, hold, now);
    }
  }

  async #passOnLater(hold: Hold): Promise<boolean> {
    this.engine.clock.lookAgain?.();
    return this.passOn(hold, this.engine.clock.now(), true);
  }

  async releaseWith(hold: Hold, value: NewValue, state: ValueState): Promise<StoreOutcome> {
    const released = releaseWith(this.engine, hold, value, state);
    this.#forget(hold); // only now: what a stand-in has confirmed until the release counts
    const outcome = await released;
    this.leave(hold.owner);
    return outcome;
  }

  attend(hold: Hold): void {
    this.#watchdog.attend(hold);
  }

  onEnd(hold: Hold): void {
    this.#forget(hold);
    takeBack(this.engine, hold, hold.timing.closedUntil);
    this.leave(hold.owner);
  }

  /** @param outage the outage that this request met; the claim of the next request takes it over */
  leave(request: HoldOwner, outage?: Outage): void {
    (this.apart as Set<HoldOwner>).delete(request);
    for (const next of this.queue.leave(request)) void this.serve(next, claimFor(next, outage));
    this.lookout?.follow();
    if (this.#queues.size > MAX_IDLE_QUEUES) this.#onLeave();
  }
}

/** Gives a released hold back. @returns whether this call freed it; if the outcome is unknown, the release goes on in the background */
async function giveUp(holds: KeyHolds, hold: Hold, now: number): Promise<boolean> {
  const { engine } = holds;
  const { keptUntil, lateUntil } = hold.timing;
  // An unanswered attempt may arrive until `lateUntil`, even after this release, and take the key again. So a second release is scheduled for that
  // time, before the first release is sent: the answer to the first release may come after `lateUntil`.
  if (lateUntil > now) withdrawAt(engine, currentClaim(hold), Math.max(lateUntil, keptUntil));
  let sent = now;
  let outage: Outage | undefined;
  engine.activity.begin();
  try {
    if (keptUntil > now) {
      const kept = await keepTaken(engine, hold, now);
      if (kept !== undefined) return kept;
      sent = engine.clock.now();
    }
    // If possible, one call gives the hold back and attempts the claim of the request that enters here next.
    const next = holds.queue.head && holds.queue.successor(hold.owner);
    const queued = next && next.terms.wait > 0 ? claimFor(next) : undefined;
    if (!next || !queued?.watchFirst()) return (await engine.release(hold.claim, undefined, sent)).freed;
    holds.queue.replace(hold.owner, next);
    const released = engine.release(hold.claim, queued.claim, sent);
    void holds.serve(next, queued, { sent, attempt: released.then((answer) => answer.next) });
    return (await released).freed;
  } catch (error) {
    withdraw(engine, currentClaim(hold));
    hold.publish('releaseFailed', { error });
    outage = new Outage(Math.max(sent, engine.clock.now() - CALL_TIMEOUT_MS), error); // not the time in which this process stood still
    return false;
  } finally {
    holds.leave(hold.owner, outage);
    engine.activity.end();
  }
}

/**
 * Keeps the key taken for the rest of `minHold`. If the engine has a clock, that needs no process: a renewal makes the lease end at that time.
 * @returns whether the engine had the hold; undefined: `minHold` is over, and the hold has to be given back
 */
async function keepTaken(engine: Engine, hold: Hold, now: number): Promise<boolean | undefined> {
  const { traits } = engine.backend;
  const { keptUntil, isKeySpent } = hold.timing;
  // Without a clock no engine sees that the lease ends, and a process that does not wait for the key would never get it. So this process gives
  // the hold back, and the lease lasts until then.
  const givesBack = !traits.expires || (traits.observedExpiry === true && !isKeySpent);
  const ttl = Math.max(Math.ceil(keptUntil - now) + (givesBack ? CALL_TIMEOUT_MS : 0), traits.ttl.min);
  const { settled } = hold; // if false, an earlier renewal or extension may arrive after this one, and set its own, longer lease
  const renewal = traits.expires ? engine.renew([{ ...hold.claim, ttl }], CALL_TIMEOUT_MS).catch(() => []) : [];
  const [answer] = await renewal;
  if (givesBack && answer !== 'gone') {
    const rest = keptUntil - engine.clock.now();
    if (rest > 0) await engine.activity.pause(rest);
    const isCutShort = engine.activity.over && engine.clock.now() < keptUntil;
    return traits.expires && isCutShort ? true : undefined; // the key stays taken, though its `Locks` are closed
  }
  // Without an answer, or where the engine kept the lease as it was, the key might stay taken for the whole lease. So the claim is withdrawn
  // when `minHold` is over.
  if (!settled || (answer !== 'gone' && (typeof answer !== 'object' || answer.kept))) takeBack(engine, hold);
  return typeof answer === 'object';
}

/** Withdraws the claim in the background, when `minHold` and, after an expiry, `delay` are over. */
function takeBack(engine: Engine, hold: Hold, closedUntil = 0): void {
  const { timing } = hold;
  const claim = currentClaim(hold);
  const now = engine.clock.now();
  const kept = Math.max(timing.keptUntil, closedUntil);
  if (kept > now) withdrawAt(engine, claim, Math.max(kept, timing.lateUntil));
  else withdraw(engine, claim, timing.lateUntil);
}
