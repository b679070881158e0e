import { claimFor } from '../claims/numbered-claim.ts';
import { QueuedClaim } from '../claims/queued-claim.ts';
import type { ResolvedOptions } from '../contract/options.ts';
import type { Outage } from '../engine/outage.ts';
import type { Hold } from '../holds/hold.ts';
import { AcquireRequest } from './acquire-request.ts';
import { KeyHolds } from './key-holds.ts';
import { ArrivalLine } from './line.ts';
import { type LocalStanding, localStanding } from './local-standing.ts';
import type { Frame } from './reentrancy.ts';
import type { RequestEvents } from './request-events.ts';
import type { LockRuntime } from './runtime.ts';

/**
 * The line of one key inside this process, under the same rule: whoever it would admit stands in the engine's line, the
 * others wait here and cost the engine nothing. A hold may pass from hand to hand for a while before it goes back.
 */
export class LocalLine {
  readonly #key: string;
  readonly #runtime: LockRuntime;
  readonly #onIdle: () => void;
  /** Inside: standing in the engine's line, or holding. */
  readonly #line = new ArrivalLine<AcquireRequest>();
  /** Each in the engine's line for itself, whoever of this process is there: what they wait inside of has to be seen there (`detect`). */
  readonly #apart = new Set<AcquireRequest>();
  readonly #holds: KeyHolds;

  constructor(key: string, runtime: LockRuntime, onIdle: () => void) {
    this.#key = key;
    this.#runtime = runtime;
    this.#onIdle = onIdle;
    this.#holds = new KeyHolds(runtime, this);
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
      else this.waits(request);
    }
    this.#tidy();
    return request.outcome;
  }

  /** Rejects who waits; the last first, so that nobody inherits a place. */
  close(error: unknown): void {
    for (const request of [...this.#apart, ...this.#line.members.reverse()]) this.#giveUp(request, error);
  }

  /** Who waits here for the place of this one, which is in the engine's line; `may` take it over. */
  replace(request: AcquireRequest, may: (next: AcquireRequest) => boolean): AcquireRequest | undefined {
    const next = this.#line.isInside(request) ? this.#line.head : undefined;
    if (!next || !may(next)) return undefined;
    this.#line.replace(request, next);
    return next;
  }

  /** The claim of whoever would come in when this one left; if that can go with its release, it has taken its place. */
  successorOf(request: AcquireRequest): QueuedClaim | undefined {
    const next = this.#line.successor(request);
    const queued = next && this.#claimOf(next);
    if (!next || !queued?.open()) return undefined;
    queued.standFor(next);
    this.#line.replace(request, next);
    return queued;
  }

  #standsApart(request: AcquireRequest): boolean {
    if (request.detects === undefined || this.#line.admits(request.seats)) return false;
    if (request.circumstances(this.#runtime)?.detects === undefined) return false;
    this.#apart.add(request);
    return true;
  }

  #stand(request: AcquireRequest, outage?: Outage): void {
    const queued = this.#claimOf(request, outage);
    queued.standFor(request);
    this.#holds.serve(queued);
  }

  #claimOf(request: AcquireRequest, outage?: Outage): QueuedClaim {
    return new QueuedClaim(this.#runtime.engine, claimFor(request, this.#runtime), request.resolved, outage);
  }

  /** A caller that gives up leaves its place to the next equal one, so that short waits do not send the process to the back. */
  #giveUp(request: AcquireRequest, error: unknown): void {
    if (request.settled) return;
    request.refuse(error);
    const { queued } = request;
    const inherits = (next: AcquireRequest) => next.equals(request) && next.inherits(queued!.claim, this.#runtime);
    const heir = queued && this.replace(request, inherits);
    if (heir) queued.standFor(heir);
    else {
      queued?.leave();
      this.leave(request);
    }
  }

  /** Who has waited here for as long as an engine is waited for is told with the one who asked it. */
  tellAlike(outage: Outage): void {
    const { engine } = this.#runtime;
    const now = engine.clock.now();
    if (now < outage.limit(0)) return;
    for (const request of this.#line.members) {
      if (request.queued || request.settled || now < outage.limit(request.began)) continue;
      request.refuse(engine.unavailable(this.#key, outage.last, 'Another caller in this process asked; try again'));
      this.leave(request, outage);
    }
  }

  /** @param outage that whoever comes next would meet, too */
  leave(request: AcquireRequest, outage?: Outage): void {
    this.#apart.delete(request);
    for (const next of this.#line.leave(request)) this.#stand(next, outage);
    this.#tidy();
  }

  /** Told once, whether it waits here first or in the engine's line. */
  readonly waits = (request: AcquireRequest | undefined): void => {
    if (!request?.beginsToWait(this.#runtime)) return;
    if (request.detects !== undefined)
      this.#runtime.deadlocks?.watch(this.#key, request, (error) => this.#giveUp(request, error));
    if (!request.settled) request.events.waits();
  };

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
