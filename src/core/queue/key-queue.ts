import type { Demand } from '../contract/admission.ts';
import type { Origin } from '../contract/origin.ts';
import type { Terms } from '../contract/terms.ts';
import type { Hold } from './hold.ts';
import { KeyHolds } from './key-holds.ts';
import { interchangeable, mayInherit } from './release.ts';
import { AcquireRequest, claimFor, type HoldsAround } from './request.ts';
import type { QueueContext, RequestEvents } from './request-events.ts';
import type { Watchdog } from './watchdog.ts';

/** One request of this process for a key. The entries of a key are in the order of its queue here. */
export interface LocalEntry extends Demand {
  readonly key: string;
  readonly label: string;
  /** The time since the caller asked, ms. */
  readonly since: number;
  /** The origin as of now, without frames that are over. */
  readonly origin: Origin;
  /** Whether the request stands in the engine's queue, or holds. */
  readonly queued: boolean;
}

/**
 * The callers of one key inside this process, under the rule of the engine's queue. The requests that the rule would admit stand in the
 * engine's queue. The others wait here, and cost the engine nothing. A hold may pass from hand to hand for a while before it goes back.
 */
export class KeyQueue {
  readonly #context: QueueContext;
  readonly #holds: KeyHolds;

  /** @param queues the queues of all keys. This queue is removed from the Map if it is idle while there are too many queues */
  constructor(context: QueueContext, watchdog: Watchdog, key: string, queues: Map<string, KeyQueue>) {
    this.#context = context;
    const onLeave = (): void => {
      // Another queue may have taken its place in the Map.
      if (this.idle && queues.get(key) === this) queues.delete(key);
    };
    this.#holds = new KeyHolds(context.engine, watchdog, queues, onLeave);
  }

  /**
   * @param began when the caller began to wait
   * @param around gives the holds of the calls of `run` around the caller
   * @returns undefined when `wait` is 0 and the key cannot be had now
   * @throws LockError `LOCK_TIMEOUT`, `LOCK_ABORTED`, `LOCK_UNAVAILABLE`, `LOCK_CLOSED`
   */
  join(events: RequestEvents, terms: Terms, began: number, around?: HoldsAround): Promise<Hold | undefined> {
    const { queue, interim, lookout } = this.#holds;
    const request = new AcquireRequest(events, terms, began, this.#giveUp, around);
    if (request.state === 'settled') return request.outcome;
    if (terms.detect || this.#context.traceparent) request.noteCaller();
    if (terms.wait === 0 && !queue.admits(request.demand) && !interim.isOpen) request.grant(undefined);
    else if ((request.detects !== undefined && this.#joinApart(request)) || queue.join(request))
      void this.#holds.serve(request, claimFor(request));
    else {
      lookout?.follow();
      interim.end();
      if (terms.wait > 0) request.beginWait();
      else void interim.ended.then(() => this.#endTry(request));
    }
    return request.outcome;
  }

  /** Rejects all waits, the last one first: otherwise a later request would inherit the claim of an earlier request. */
  close(error: unknown): void {
    const { queue, apart, interim } = this.#holds;
    interim.close();
    for (const request of [...apart, ...queue.members.reverse()]) this.#giveUp(request, error);
  }

  /** Refuses a request with `wait: 0` that came while releases were on their way, if it has no claim by then: the answer to a claim decides. */
  #endTry(request: AcquireRequest): void {
    if (request.isSettled || request.queued) return;
    request.grant(undefined);
    this.#holds.leave(request);
  }

  #joinApart(request: AcquireRequest): boolean {
    const { queue, apart, interim } = this.#holds;
    if (queue.admits(request.demand) || request.circumstances()?.detects === undefined) return false;
    interim.end(); // a hold that lingers goes back to the engine, since this request asks there
    apart.add(request);
    return true;
  }

  /** Ends a request. Its claim goes to the next equal request here, so that short waits do not send the process to the end of the engine's queue. */
  readonly #giveUp = (request: AcquireRequest, error: unknown): void => {
    if (request.isSettled) return;
    request.refuse(error);
    const { queue } = this.#holds;
    const { queued } = request;
    const heir = queue.isInside(request) ? queue.head : undefined;
    if (queued && heir && interchangeable(heir, request) && mayInherit(queued.claim, heir)) {
      queue.replace(request, heir);
      request.queued = undefined;
      void this.#holds.serve(heir, queued);
    } else {
      queued?.leave();
      this.#holds.leave(request);
    }
  };

  get idle(): boolean {
    return this.#holds.queue.idle && this.#holds.apart.size === 0;
  }

  /** Whether a caller waits here, and not in the engine's queue. */
  get isWaitedFor(): boolean {
    return this.#holds.queue.head !== undefined;
  }

  get entries(): LocalEntry[] {
    const { queue, apart } = this.#holds;
    return [...queue.members, ...apart].flatMap((request) =>
      localEntry(this.#context, request, apart.has(request) || queue.isInside(request)),
    );
  }
}

/** @returns nothing before the first claim of this process */
function localEntry({ name, engine }: QueueContext, request: AcquireRequest, queued: boolean): LocalEntry[] {
  const process = name.word;
  if (process === undefined) return [];
  const { key, began, terms } = request;
  const { units, capacity } = request.demand;
  const { inside = [], cut = false } = request.circumstances() ?? {};
  const detects = request.queued?.claim.origin.detects; // a caller that looks for deadlocks has a claim in the engine's queue
  const origin = { process, claim: request.reserveNumber(), inside, cut, ...(detects !== undefined && { detects }) };
  return [{ key, label: terms.label, units, capacity, since: engine.clock.now() - began, origin, queued }];
}
