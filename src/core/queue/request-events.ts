import { ALL_UNITS, type Demand, isExclusive } from '../contract/admission.ts';
import { Context } from '../contract/clock.ts';
import { isLockError, type LockError } from '../contract/errors.ts';
import { channels, EVENT_VERSION, emit, type LockEvent, type LockType, nextNumber } from '../contract/events.ts';
import type { Circumstances, ProcessName } from '../contract/origin.ts';
import type { Terms } from '../contract/terms.ts';
import type { ValueState } from '../contract/values.ts';
import type { Engine } from '../engine/engine.ts';

/** The parts that the queues of one `Locks` share. */
export interface QueueContext {
  /** The number of the `Locks`; events have it as `locks`. */
  readonly number: number;
  readonly engine: Engine;
  /** The name of this process in the labels of its claims. */
  readonly name: ProcessName;
  /** Gives the span that a request belongs to, 55 characters. It is called once for a request, in the context of the caller. */
  readonly traceparent: ((request: { event(): LockEvent }) => string | undefined) | undefined;
  /** Searches for deadlocks of the requests with `detect`. */
  readonly deadlocks: DeadlockWatch | undefined;
}

/** A wait, as the search for deadlocks sees it. */
export interface WatchedWait {
  /** The number of the claim in this process, once there is one. */
  readonly number: number | undefined;
  readonly state: 'new' | 'waiting' | 'settled';
  /** Settles when the wait is over. */
  readonly outcome: Promise<unknown>;
  circumstances(): Circumstances | undefined;
  /** Publishes events about the wait. */
  readonly events: { publish(name: 'detectionFailed', token: undefined, more: Partial<LockEvent>): void };
}

/** The search for deadlocks. */
export interface DeadlockWatch {
  /** @param giveUp ends the wait with this error */
  watch(key: string, wait: WatchedWait, giveUp: (error: LockError) => void): void;
  close(): void;
}

const ALL_CHANNELS = Object.values(channels);

/** Publishes the events of one request, from its beginning to the end of the hold that it gets. */
export class RequestEvents {
  readonly key: string;
  readonly demand: Demand;
  #number: number | undefined;
  /** The async context of the caller, in which its events are published. Undefined if there was no listener when the caller asked. */
  #caller: Context | undefined;
  readonly context: QueueContext;
  readonly #terms: Terms;
  readonly #began: number;
  #waited = false;

  /** @param began when the caller asked for the units */
  constructor(context: QueueContext, key: string, demand: Demand, terms: Terms, began: number) {
    this.context = context;
    this.key = key;
    this.demand = demand;
    this.#terms = terms;
    this.#began = began;
    for (const each of ALL_CHANNELS) if (each.hasSubscribers) this.#caller ??= new Context();
  }

  /** The number is given when it is first read, for example for an event. */
  get number(): number {
    this.#number ??= nextNumber('requests');
    return this.#number;
  }

  /** @param token the token of an exclusive hold */
  publish(name: Exclude<keyof typeof channels, 'forced'>, token?: bigint, more?: Partial<LockEvent>): void {
    if (channels[name].hasSubscribers) emit(name, this.#caller, () => this.event(token, more));
  }

  /** Publishes, once, that the request waits, here or in the engine's queue. */
  publishWait(): void {
    if (this.#waited) return;
    this.#waited = true;
    this.publish('waiting');
  }

  publishEnd(
    how: 'acquired' | 'handedOver' | 'reentered' | 'answered' | 'refused',
    token?: bigint,
    state?: ValueState,
  ): void {
    if (!channels[how].hasSubscribers) return;
    const duration = this.context.engine.clock.now() - this.#began;
    this.publish(how, token, state ? { duration, state } : { duration });
  }

  publishFailure(error: unknown): void {
    const code = isLockError(error) ? error.code : undefined;
    const how = code === 'LOCK_TIMEOUT' ? 'timedOut' : code === 'LOCK_ABORTED' ? 'aborted' : 'failed';
    this.publish(how, undefined, { duration: this.context.engine.clock.now() - this.#began, error });
  }

  event(token?: bigint, more?: Partial<LockEvent>): LockEvent {
    const { units, capacity } = this.demand;
    const { label, all } = this.#terms;
    const event: { -readonly [F in keyof LockEvent]: LockEvent[F] } = {
      version: EVENT_VERSION,
      locks: this.context.number,
      request: this.number,
      backend: this.context.engine.backend.name,
      key: this.key,
      type: typeOf(this.demand),
      label,
      units,
      capacity,
    };
    // A spread would copy the event, and an event is made at every grant and release.
    if (all !== undefined) event.all = all;
    if (token !== undefined) event.token = token;
    return more ? Object.assign(event, more) : event;
  }
}

function typeOf(demand: Demand): LockType {
  if (demand.capacity !== ALL_UNITS) return 'semaphore';
  if (!isExclusive(demand)) return 'reader';
  return demand.readWrite ? 'writer' : 'mutex';
}
