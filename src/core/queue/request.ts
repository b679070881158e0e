import { type Demand, isExclusive, type QueueMember } from '../contract/admission.ts';
import type { Cancel } from '../contract/clock.ts';
import { LockError, quoted } from '../contract/errors.ts';
import { type Circumstances, type Enclosing, labelFor, MAX_ENCLOSING, type ProcessName } from '../contract/origin.ts';
import { onAbort } from '../contract/promises.ts';
import type { EnclosingHold, Terms } from '../contract/terms.ts';
import { CALL_TIMEOUT_MS } from '../engine/engine.ts';
import { type Claimant, QueuedClaim } from './claim.ts';
import type { LocalClaim } from './claim-step.ts';
import type { Hold } from './hold.ts';
import type { Outage } from './pause.ts';
import type { RequestEvents } from './request-events.ts';
import { limitWait } from './wait-limit.ts';

const NO_ITEMS: readonly never[] = [];

/** Gives the holds of the calls of `run` around a caller, the innermost first. */
export type HoldsAround = (name: ProcessName) => Iterable<Hold>;

type GiveUp = (request: AcquireRequest, error: LockError) => void;

/** One caller in this process that waits for one key. It is settled once: granted or refused. */
export class AcquireRequest implements Claimant, QueueMember {
  readonly key: string;
  readonly demand: Demand;
  /** Whether no other request can hold at the same time. */
  readonly exclusive: boolean;
  readonly terms: Terms;
  readonly began: number;
  readonly events: RequestEvents;
  // The queue of this process writes these fields. They are there from the beginning, so that all requests have one shape in memory.
  place: QueueMember['place'] = undefined;
  before: QueueMember['before'] = undefined;
  after: QueueMember['after'] = undefined;
  /** The claim of the request in the engine's queue, if it has one. */
  queued: QueuedClaim | undefined;
  /** The number of its claim. A listing may set this before the claim exists. */
  number: number | undefined;
  /** The time at which the caller began to wait, ms since 1970; undefined without `detect`. */
  detects: number | undefined;
  /** The span of the caller's trace. Listings show it. */
  traceparent: string | undefined;
  /** Undefined once the request is settled, so that a hold does not keep the frames around it alive. */
  #around: HoldsAround | undefined;
  /** For each hold around the caller, a function that tells the hold that the caller no longer waits. */
  #endWaits: readonly (() => void)[] = NO_ITEMS;
  /** Gives the hold, or undefined where the caller does not wait and was refused. */
  readonly outcome: Promise<Hold | undefined>;
  readonly #resolve: (hold: Hold | undefined) => void;
  readonly #reject: (error: unknown) => void;
  readonly #giveUp: GiveUp;
  #cancel: Cancel | undefined;
  #unlisten: (() => void) | undefined;
  state: 'new' | 'waiting' | 'settled' = 'new';

  /**
   * Also starts the limits `wait` and `signal`.
   * @param giveUp called with the request and its error when a limit ends the wait; at once, if the signal has aborted
   */
  constructor(events: RequestEvents, terms: Terms, now: number, giveUp: GiveUp, around?: HoldsAround) {
    this.key = events.key;
    this.#around = around;
    this.demand = events.demand;
    this.exclusive = isExclusive(events.demand);
    this.events = events;
    this.terms = terms;
    this.began = now;
    const { promise, resolve, reject } = Promise.withResolvers<Hold | undefined>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#giveUp = giveUp;
    const { wait, signal, isDefaultWait } = terms;
    if (signal) this.#unlisten = onAbort(signal, () => giveUp(this, abortError(this)));
    if (!isDefaultWait && wait > 0 && wait < Number.POSITIVE_INFINITY && !signal?.aborted) this.#limitWait();
  }

  #limitWait(): void {
    this.#cancel = limitWait(this, (error) => this.#giveUp(this, error));
  }

  /** @param hold undefined where the caller does not wait and was refused */
  grant(hold: Hold | undefined): void {
    if (hold) this.number = hold.claim.origin.claim;
    this.state = 'settled';
    this.#around = undefined;
    for (const end of this.#endWaits) end();
    this.#endWaits = NO_ITEMS;
    this.#cancel?.();
    this.#unlisten?.();
    this.#resolve(hold);
  }

  refuse(error: unknown): void {
    this.#reject(error); // settles `outcome`; the grant below only cleans up
    this.grant(undefined);
  }

  /** Gives what the origin of its claim says besides the number of the claim; undefined if there is nothing more to say. */
  circumstances(): Circumstances | undefined {
    const { traceparent } = this;
    if (!this.#around && !this.terms.beside?.length && traceparent === undefined) return undefined;
    const inside: Enclosing[] = [];
    let cut = false;
    for (const { claim } of this.#enclosing()) {
      if (inside.some((other) => other.claim === claim.origin.claim)) continue; // the caller re-entered this hold
      cut = inside.length === MAX_ENCLOSING;
      if (cut) break;
      inside.push({ claim: claim.origin.claim, key: claim.key });
    }
    const detects = inside.length > 0 ? this.detects : undefined; // nobody waits for a caller that holds nothing
    return { inside, cut, detects, traceparent };
  }

  *#enclosing(): Iterable<EnclosingHold> {
    const { beside = [] } = this.terms;
    for (let i = beside.length - 1; i >= 0; i--) yield beside[i]!;
    if (this.#around) yield* this.#around(this.events.context.name);
  }

  /** Begins the wait, here or in the engine's queue, unless it has begun. Until the wait ends, the holds around the caller are not handed over. */
  beginWait(): void {
    if (this.state !== 'new') return;
    this.state = 'waiting';
    // A default wait gets its timer here: most calls get the lock at once, and a timer costs more than the rest. The first attempt has its own limit.
    if (this.terms.isDefaultWait) this.#limitWait();
    this.#endWaits = Array.from(this.#enclosing(), (hold) => hold.listeners.beginWait());
    if (this.detects !== undefined)
      this.events.context.deadlocks?.watch(this.key, this, (error) => this.#giveUp(this, error));
    if (!this.isSettled) this.events.publishWait();
  }

  get isSettled(): boolean {
    return this.state === 'settled';
  }

  /** Stores what the origin of this request's claim will say of the caller. Call it in the async context of the caller. */
  noteCaller(): void {
    const { traceparent, engine } = this.events.context;
    this.traceparent = traceparent?.(this.events);
    if (this.terms.detect) this.detects = engine.clock.epoch();
  }

  /** Gives the number of its claim, also before the claim exists. */
  reserveNumber(): number {
    this.number ??= this.events.context.name.reserve();
    return this.number;
  }
}

function abortError({ key, terms }: AcquireRequest): LockError {
  const cause = terms.signal?.reason;
  return new LockError('LOCK_ABORTED', `the wait for ${quoted(key)} was aborted by its signal`, { key, cause });
}

/**
 * Makes the claim for a request. The id is new each time, since an id that was released is never used again.
 * @param outage the outage that the previous claim of this key met
 */
export function claimFor(request: AcquireRequest, outage?: Outage): QueuedClaim {
  const { key, demand, terms } = request;
  const { engine, name } = request.events.context;
  const { backend, clock } = engine;
  const { lengths } = terms;
  const circumstances = request.circumstances();
  const id = clock.id();
  const number = name.next(id);
  const process = name.word!;
  const origin = circumstances
    ? { process, claim: number, ...circumstances }
    : { process, claim: number, inside: NO_ITEMS, cut: false };
  const queue = terms.wait > 0 && backend.traits.fair;
  const claim: LocalClaim = {
    key,
    id,
    units: demand.units,
    capacity: demand.capacity,
    readWrite: demand.readWrite,
    ttl: queue ? lengths.waiter : lengths.hold,
    queue,
    placeTtl: queue ? lengths.place : undefined,
    tokenCount: request.exclusive ? terms.handOff.max + 1 : 1,
    within: Math.min(CALL_TIMEOUT_MS, Math.max(lengths.lease / 2, 100)),
    accepts: terms.inquiry?.accepts(clock.now()),
    lingers: terms.minHold > 0 || terms.delay > 0,
    label: labelFor(terms.label, origin),
    origin,
  };
  return new QueuedClaim(engine, claim, terms, outage);
}
