import { AcquireRequest, askedOf } from './acquire-request.ts';
import type { PiggybackedAttempt } from './answer.ts';
import type { Release } from './backend.ts';
import type { Granted } from './deadline.ts';
import { closedUntil } from './delay.ts';
import { CALL_TIMEOUT } from './engine.ts';
import { Hold, type HoldKeeper } from './hold.ts';
import { tellGranted } from './hold-events.ts';
import { Line } from './line.ts';
import { type LocalStanding, localStanding } from './local-standing.ts';
import { claimFor } from './numbered-claim.ts';
import type { ResolvedOptions } from './options.ts';
import type { Outage } from './outage.ts';
import { QueuedClaim } from './queued-claim.ts';
import type { Frame } from './reentrancy.ts';
import type { RequestEvents } from './request-events.ts';
import type { LockRuntime } from './runtime.ts';

/**
 * The line of one key inside this process, under the same rule: whoever it would admit stands in the engine's line, the
 * others wait here and cost the engine nothing. A hold may pass from hand to hand for a while before it goes back.
 */
export class LocalLine implements HoldKeeper {
  readonly #key: string;
  readonly #runtime: LockRuntime;
  readonly #onIdle: () => void;
  /** Inside: standing in the engine's line, or holding. */
  readonly #line = new Line<AcquireRequest>();
  /** Each in the engine's line for itself, whoever of this process is there: what they wait inside of has to be seen there (`detect`). */
  readonly #apart = new Set<AcquireRequest>();

  constructor(key: string, runtime: LockRuntime, onIdle: () => void) {
    this.#key = key;
    this.#runtime = runtime;
    this.#onIdle = onIdle;
  }

  /**
   * @param around what the caller is inside of
   * @returns undefined when `wait` is 0 and it cannot be had now
   * @throws LockError `LOCK_TIMEOUT`, `LOCK_ABORTED`, `LOCK_UNAVAILABLE`, `LOCK_CLOSED`
   */
  obtain(events: RequestEvents, resolved: ResolvedOptions, around?: Frame): Promise<Hold | undefined> {
    const { clock, backend } = this.#runtime.engine;
    const request = new AcquireRequest(events, resolved, clock.now(), around);
    request.traceparent = this.#runtime.traceparent?.(events);
    if (resolved.detect) request.detects = clock.epoch();
    request.limit(clock, backend.name, (error) => this.#giveUp(request, error));
    if (resolved.wait === 0 && !this.#line.admits(request.seats)) request.grant(undefined);
    if (!request.settled) {
      if (this.#standsApart(request) || this.#line.join(request)) this.#stand(request);
      else this.#waits(request);
    }
    this.#tidy();
    return request.outcome;
  }

  /** Whether this call freed the hold. Never throws: a release whose outcome is unknown goes on in the background. */
  async release(hold: Hold): Promise<boolean> {
    const { request } = hold;
    if (!request || hold.over) return false;
    const { engine, renewal } = this.#runtime;
    engine.clock.lookAgain?.();
    if (!hold.held) {
      hold.end('its deadline passed without a renewal');
      return false;
    }
    hold.released();
    if (this.#passOn(hold, request)) return true;
    renewal.remove(hold);
    const { rest } = hold;
    engine.begin();
    try {
      if (rest > 0) return await this.#linger(hold, request, rest);
      return await this.#giveBack(hold, request);
    } catch {
      engine.withdraw(hold.claim);
      return false;
    } finally {
      if (hold.lateUntil > 0) engine.withdrawAt(hold.claim, Math.max(hold.lateUntil, engine.clock.now() + hold.rest));
      this.#leave(request);
      engine.end();
    }
  }

  /** Rejects who waits; the last first, so that nobody inherits a place. */
  close(error: unknown): void {
    for (const request of [...this.#apart, ...this.#line.members.reverse()]) this.#giveUp(request, error);
  }

  /** From hand to hand, if an equal request is next, and neither the tenure nor too much of the lease is used up. */
  #passOn(hold: Hold, request: AcquireRequest): boolean {
    const { clock } = this.#runtime.engine;
    const { max, within } = hold.resolved.handOff;
    const next = this.#line.head;
    if (!this.#line.isInside(request)) return false;
    if (hold.waitsInside > 0) return false; // what its function has started and left behind would be inside of the next one's
    if (!next || !hold.exclusive || !next.equals(request) || hold.loss || hold.resolved.minHold > 0) return false;
    if (hold.claim.ttl !== askedOf(next.resolved) || !hold.settled) return false; // it was extended, or may have been
    if (hold.tenure.passes + 1 >= hold.span) return false; // of whoever asked the engine for the tickets
    if (hold.tenure.passes >= max || next.resolved.handOff.max <= hold.tenure.passes) return false;
    if (clock.now() - hold.tenure.since >= within || !hold.lastsFor(next.resolved)) return false;
    this.#line.replace(request, next);
    this.#hold(hold.passTo(next.resolved), next);
    return true;
  }

  /** Back to the engine, in one step with the place of whoever comes next here. */
  #giveBack(hold: Hold, request: AcquireRequest): Promise<boolean> {
    const { engine } = this.#runtime;
    const next = this.#line.successor(request);
    const queued = next && this.#newQueuedClaim(next);
    if (!next || !queued?.open()) return engine.release(hold.claim).then(freed);
    this.#assign(queued, next);
    this.#line.replace(request, next);
    const sent = engine.clock.now();
    const released = engine.release(hold.claim, queued.claim);
    void this.#serve(queued, { sent, attempt: released.then((answer) => answer.next) });
    return released.then(freed);
  }

  /** Keeps the key taken for the rest of `minHold`, if possible without this process. */
  async #linger(hold: Hold, request: AcquireRequest, rest: number): Promise<boolean> {
    const { engine } = this.#runtime;
    if (engine.backend.traits.lapses) {
      const ttl = Math.max(Math.ceil(rest), engine.backend.traits.ttl.min);
      const [answer] = await engine.renew([{ ...hold.claim, ttl }], CALL_TIMEOUT).catch(() => []);
      // Else it would stay for as long as its lease, should nothing come of that either: too long, never too short.
      if (answer === undefined || answer === 'unknown') this.#takeBack(hold);
      return typeof answer === 'object';
    }
    await engine.pause(rest);
    return this.#giveBack(hold, request);
  }

  #standsApart(request: AcquireRequest): boolean {
    if (request.detects === undefined || this.#line.admits(request.seats)) return false;
    if (request.circumstances(this.#runtime)?.detects === undefined) return false;
    this.#apart.add(request);
    return true;
  }

  #stand(request: AcquireRequest, outage?: Outage): void {
    const queued = this.#newQueuedClaim(request, outage);
    this.#assign(queued, request);
    void this.#serve(queued);
  }

  #newQueuedClaim(request: AcquireRequest, outage?: Outage): QueuedClaim {
    const queued: QueuedClaim = new QueuedClaim(
      this.#runtime.engine,
      claimFor(request, this.#runtime),
      request.resolved,
      outage,
      () => this.#waits(queued.request),
    );
    return queued;
  }

  #assign(queued: QueuedClaim, request: AcquireRequest): void {
    queued.request = request;
    request.queued = queued;
    request.number = queued.claim.number;
  }

  /** Stands in the engine's line; what comes of it goes to the request that the claim belongs to by then. */
  async #serve(queued: QueuedClaim, piggybacked?: PiggybackedAttempt): Promise<void> {
    const { engine } = this.#runtime;
    engine.begin();
    let granted: Granted | undefined;
    try {
      granted = await queued.stand(piggybacked);
      const { request } = queued;
      const claim = request && { ...queued.claim, ttl: askedOf(request.resolved) };
      if (granted && request) this.#hold(new Hold(engine, claim!, granted, request.resolved, this), request);
      else if (granted) engine.withdraw(queued.claim);
      else if (request) {
        request.grant(undefined);
        this.#leave(request);
      }
    } catch (error) {
      const { request } = queued;
      if (granted) engine.withdraw(queued.claim); // what came of it was no grant that could be held
      request?.refuse(error);
      if (request) this.#tellAlike(queued.outage);
      if (request) this.#leave(request, queued.outage);
    } finally {
      queued.request = undefined;
      engine.end();
    }
  }

  /** Renewal comes before the grant is shown. */
  #hold(hold: Hold, request: AcquireRequest): void {
    hold.grantedTo(request);
    this.#runtime.renewal.add(hold);
    request.grant(hold); // before that is told: a listener may end the wait
    tellGranted(hold);
    hold.listen();
  }

  ended(hold: Hold): void {
    this.#runtime.renewal.remove(hold);
    this.#takeBack(hold, closedUntil(hold));
    if (hold.request) this.#leave(hold.request);
  }

  /** In the background, when `minHold` and, after a lapse, `delay` are over. */
  #takeBack(hold: Hold, closedUntil = 0): void {
    const { engine } = this.#runtime;
    const now = engine.clock.now();
    const kept = Math.max(now + hold.rest, closedUntil);
    if (kept > now) engine.withdrawAt(hold.claim, Math.max(kept, hold.lateUntil));
    else engine.withdraw(hold.claim, hold.lateUntil);
  }

  /** A caller that gives up leaves its place to the next equal one, so that short waits do not send the process to the back. */
  #giveUp(request: AcquireRequest, error: unknown): void {
    if (request.settled) return;
    request.refuse(error);
    const { queued } = request;
    const heir = this.#line.head;
    if (queued && this.#line.isInside(request) && heir?.equals(request) && heir.inherits(queued.claim, this.#runtime)) {
      this.#line.replace(request, heir);
      this.#assign(queued, heir);
      return;
    }
    if (queued) {
      queued.request = undefined;
      queued.cancel();
    }
    this.#leave(request);
  }

  /** Who has waited here for as long as an engine is waited for is told with the one who asked it. */
  #tellAlike(outage: Outage): void {
    const { engine } = this.#runtime;
    const now = engine.clock.now();
    if (now < outage.limit(0)) return;
    for (const request of this.#line.members) {
      if (request.queued || request.settled || now < outage.limit(request.began)) continue;
      request.refuse(engine.unavailable(this.#key, outage.last, 'Another caller in this process asked; try again'));
      this.#leave(request, outage);
    }
  }

  /** @param outage that whoever comes next would meet, too */
  #leave(request: AcquireRequest, outage?: Outage): void {
    this.#apart.delete(request);
    for (const next of this.#line.leave(request)) this.#stand(next, outage);
    this.#tidy();
  }

  /** Told once, whether it waits here first or in the engine's line. */
  #waits(request: AcquireRequest | undefined): void {
    if (!request || request.settled || request.waited) return;
    request.waits(this.#runtime);
    if (request.detects !== undefined)
      this.#runtime.deadlocks?.watch(this.#key, request, (error) => this.#giveUp(request, error));
    if (!request.settled) request.events.waits();
  }

  get idle(): boolean {
    return this.#line.idle && this.#apart.size === 0;
  }

  /** By somebody who does not stand in the engine's line. */
  get waitedFor(): boolean {
    return this.#line.head !== undefined;
  }

  /** Who holds and who waits in this process. */
  get standings(): LocalStanding[] {
    return [...this.#line.members, ...this.#apart].flatMap((request) => {
      const queued = this.#apart.has(request) || this.#line.isInside(request);
      return localStanding(this.#runtime, request, queued);
    });
  }

  #tidy(): void {
    if (this.idle) this.#onIdle();
  }
}

const freed = (release: Release): boolean => release.freed;
