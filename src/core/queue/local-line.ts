import type { Terms } from '../contract/terms.ts';
import { AcquireRequest, type Enclosure, type RequestEvents } from './acquire-request.ts';
import { ArrivalLine } from './arrival-line.ts';
import { interchangeable, mayInherit } from './hand-over.ts';
import type { Hold } from './hold.ts';
import { type Callers, KeyHolds } from './key-holds.ts';
import type { LineContext } from './line-context.ts';
import { type LocalStanding, localStanding } from './local-standing.ts';
import type { Outage } from './outage.ts';
import { claimFor, type QueuedClaim } from './queued-claim.ts';

/**
 * The line of one key inside this process, under the same rule as the engine's. The requests that the rule would admit stand in the
 * engine's line. The others wait here, and cost the engine nothing. A hold may pass from hand to hand for a while before it goes back.
 */
export class LocalLine implements Callers {
  readonly #key: string;
  readonly #context: LineContext;
  readonly #onLeave: () => void;
  /** A request is inside while it holds the key or stands in the engine's line. */
  readonly #line = new ArrivalLine<AcquireRequest>();
  /** These stand in the engine's line, or hold, though it is not their turn here: for a search for deadlocks (`detect`), or `standApart`. */
  readonly #apart = new Set<AcquireRequest>();
  readonly #holds: KeyHolds;

  /** @param onLeave called whenever a request has left */
  constructor(key: string, context: LineContext, onLeave: () => void) {
    this.#key = key;
    this.#context = context;
    this.#onLeave = onLeave;
    this.#holds = new KeyHolds(context, this);
  }

  /**
   * @param began when its caller began to wait
   * @param around the functions that the caller runs in
   * @returns undefined when `wait` is 0 and the key cannot be had now
   * @throws LockError `LOCK_TIMEOUT`, `LOCK_ABORTED`, `LOCK_UNAVAILABLE`, `LOCK_CLOSED`
   */
  join(events: RequestEvents, terms: Terms, began: number, around?: Enclosure): Promise<Hold | undefined> {
    const request = new AcquireRequest(events, terms, began, around);
    request.traceparent = this.#context.traceparent?.(events);
    if (terms.detect) request.detects = this.#context.engine.clock.epoch();
    request.startLimits((error) => this.#giveUp(request, error));
    if (terms.wait === 0 && !this.#line.admits(request.seats) && !this.#holds.interim.isOpen) request.grant(undefined);
    if (request.state === 'settled') return request.outcome;
    if (this.#joinApart(request) || this.#line.join(request)) this.#enterEngineLine(request);
    else {
      const { interim, lookout } = this.#holds;
      lookout.follow();
      interim.end();
      if (terms.wait > 0) this.beginWait(request);
      else void interim.ended.then(() => this.#endTry(request));
    }
    return request.outcome;
  }

  /** Rejects all waits; the last one first, so that no request inherits a place. */
  close(error: unknown): void {
    this.#holds.interim.close();
    for (const request of [...this.#apart, ...this.#line.members.reverse()]) this.#giveUp(request, error);
  }

  replace(request: AcquireRequest, may: (next: AcquireRequest) => boolean): AcquireRequest | undefined {
    const next = this.#line.isInside(request) ? this.#line.head : undefined;
    if (!next || !may(next)) return undefined;
    this.#line.replace(request, next);
    return next;
  }

  takeSuccessor(request: AcquireRequest): QueuedClaim<AcquireRequest> | undefined {
    const next = this.#line.successor(request);
    if (!next || next.terms.wait === 0) return undefined;
    const queued = claimFor(next, this.#context.engine, this.#context.name);
    if (!queued.openMailbox()) return undefined;
    queued.assign(next);
    this.#line.replace(request, next);
    return queued;
  }

  /** Refuses a request that came while releases were on their way, does not wait, and was not let in by them. */
  #endTry(request: AcquireRequest): void {
    if (request.state === 'settled' || this.#line.isInside(request)) return;
    request.grant(undefined);
    this.leave(request);
  }

  #joinApart(request: AcquireRequest): boolean {
    if (request.detects === undefined || this.#line.admits(request.seats)) return false;
    if (request.circumstances()?.detects === undefined) return false;
    this.#holds.interim.end(); // a hold that lingers goes back to the engine, where this request asks
    this.#apart.add(request);
    return true;
  }

  standApart(): void {
    const { head } = this.#line;
    if (!head || [...this.#apart].some(({ state }) => state !== 'settled')) return;
    this.#enterEngineLine(head);
    this.leave(head); // before those come in that it alone kept out, its own claim is on its way
    this.#apart.add(head);
  }

  #enterEngineLine(request: AcquireRequest, outage?: Outage): void {
    const queued = claimFor(request, this.#context.engine, this.#context.name, outage);
    queued.assign(request);
    void this.#holds.serve(queued);
  }

  /** A caller that gives up leaves its place to the next equal one, so that short waits do not send the process to the back. */
  #giveUp(request: AcquireRequest, error: unknown): void {
    if (request.state === 'settled') return;
    request.refuse(error);
    const { queued } = request;
    const inherits = (next: AcquireRequest) => interchangeable(next, request) && mayInherit(queued!.claim, next);
    const heir = queued && this.replace(request, inherits);
    if (heir) queued.assign(heir);
    else {
      queued?.leave();
      this.leave(request);
    }
  }

  refuseAlike(outage: Outage | undefined): void {
    const { engine } = this.#context;
    const now = engine.clock.now();
    if (!outage || now < outage.limit(0)) return;
    for (const request of this.#line.members) {
      if (request.queued || request.state === 'settled' || now < outage.limit(request.began)) continue;
      request.refuse(engine.unavailable(this.#key, outage.last, 'Another caller in this process asked; try again'));
      this.leave(request, outage);
    }
  }

  leave(request: AcquireRequest, outage?: Outage): void {
    this.#apart.delete(request);
    for (const next of this.#line.leave(request)) this.#enterEngineLine(next, outage);
    this.#holds.lookout.follow();
    this.#onLeave();
  }

  /** Tells listeners once that a request waits, whether it waits here first or in the engine's line. */
  readonly beginWait = (request: AcquireRequest | undefined): void => {
    if (!request?.beginWait()) return;
    if (request.detects !== undefined)
      this.#context.deadlocks?.watch(this.#key, request, (error) => this.#giveUp(request, error));
    if (request.state !== 'settled') request.events.tellWait();
  };

  get idle(): boolean {
    return this.#line.idle && this.#apart.size === 0;
  }

  get waitedFor(): boolean {
    return this.#line.head !== undefined;
  }

  /** The holders and waiters of this process. */
  get standings(): LocalStanding[] {
    return [...this.#line.members, ...this.#apart].flatMap((request) => {
      const queued = this.#apart.has(request) || this.#line.isInside(request);
      return localStanding(this.#context, request, queued);
    });
  }
}
