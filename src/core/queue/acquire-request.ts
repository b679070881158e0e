import { ALL_UNITS, isExclusive, type Units } from '../contract/admission.ts';
import type { Cancel } from '../contract/clock.ts';
import { inMs, isLockError, LockError, quoted, reasonOf } from '../contract/errors.ts';
import {
  channels,
  EVENT_VERSION,
  emit,
  eventContext,
  type LockEvent,
  type LockType,
  nextNumber,
} from '../contract/events.ts';
import type { ValueState } from '../contract/left.ts';
import { type Circumstances, type Enclosing, MOST_ENCLOSING, type ProcessName } from '../contract/origin.ts';
import type { EnclosingHold, Terms } from '../contract/terms.ts';
import type { Hold } from './hold.ts';
import type { LineContext } from './line-context.ts';
import type { QueuedClaim, SeatRequest } from './queued-claim.ts';

/** Tells listeners about one request, from its beginning to the end of the hold that it gets. */
export class RequestEvents {
  readonly key: string;
  readonly seats: Units;
  #number: number | undefined;
  /** The async context of the caller. */
  readonly #caller = eventContext();
  readonly context: LineContext;
  readonly #terms: Terms;
  readonly #began: number;
  #waited = false;

  constructor(context: LineContext, { key, seats, terms }: SeatRequest, began: number) {
    this.context = context;
    this.key = key;
    this.seats = seats;
    this.#terms = terms;
    this.#began = began;
  }

  /** A request gets its number when somebody asks for it, as a listener does. */
  get number(): number {
    this.#number ??= nextNumber('requests');
    return this.#number;
  }

  /** @param token the token of an exclusive hold */
  tell(name: Exclude<keyof typeof channels, 'forced'>, token?: bigint, more?: Partial<LockEvent>): void {
    if (channels[name].hasSubscribers) emit(name, this.#caller, () => this.event(token, more));
  }

  /** Tells listeners, once, that the request waits: here or in the engine's line. */
  tellWait(): void {
    if (this.#waited) return;
    this.#waited = true;
    this.tell('waiting');
  }

  /** Tells listeners how the request ended. */
  tellEnd(
    how: 'acquired' | 'handedOver' | 'reentered' | 'answered' | 'refused',
    token?: bigint,
    state?: ValueState,
  ): void {
    if (!channels[how].hasSubscribers) return;
    const duration = this.context.engine.clock.now() - this.#began;
    this.tell(how, token, state ? { duration, state } : { duration });
  }

  /** Tells listeners that the request ended with this error. */
  tellFailure(error: unknown): void {
    const how = isLockError(error, 'LOCK_TIMEOUT')
      ? 'timedOut'
      : isLockError(error, 'LOCK_ABORTED')
        ? 'aborted'
        : 'failed';
    this.tell(how, undefined, { duration: this.context.engine.clock.now() - this.#began, error });
  }

  event(token?: bigint, more?: Partial<LockEvent>): LockEvent {
    const { units, capacity } = this.seats;
    const { label, all } = this.#terms;
    const event: { -readonly [F in keyof LockEvent]: LockEvent[F] } = {
      version: EVENT_VERSION,
      locks: this.context.number,
      request: this.number,
      backend: this.context.engine.backend.name,
      key: this.key,
      type: typeOf(this.seats),
      label,
      units,
      capacity,
    };
    // A spread would copy the event, and one is made at every grant and release.
    if (all !== undefined) event.all = all;
    if (token !== undefined) event.token = token;
    return more ? Object.assign(event, more) : event;
  }
}

function typeOf(seats: Units): LockType {
  if (seats.capacity !== ALL_UNITS) return 'semaphore';
  if (!isExclusive(seats)) return 'reader';
  return seats.readWrite ? 'writer' : 'mutex';
}

const NOBODY: readonly never[] = [];

/** The functions of `run` that a caller runs in. */
export interface Enclosure {
  /** Gives the holds that those functions run under, the innermost first. */
  holds(name: ProcessName): Iterable<EnclosingHold>;
}

/** One caller in this process that waits for one key. It is settled once: granted or refused. */
export class AcquireRequest {
  readonly key: string;
  readonly seats: Units;
  readonly terms: Terms;
  readonly began: number;
  /** Tells listeners about the request and its hold. */
  readonly events: RequestEvents;
  /** The claim of the request in the engine's line, if it has one. */
  queued: QueuedClaim<AcquireRequest> | undefined;
  /** The number of its claim. A listing may number it before it has one. */
  number: number | undefined;
  /** The time at which it began to wait, ms since 1970; undefined unless it asked for the search for deadlocks (`detect`). */
  detects: number | undefined;
  /** The span of the caller's trace. Listings show it. */
  traceparent: string | undefined;
  /** It is dropped when the request is settled, so that a hold does not keep it alive. */
  #around: Enclosure | undefined;
  #named: readonly EnclosingHold[] = NOBODY;
  /** Gives the hold, or undefined where the caller does not wait and was refused. */
  readonly outcome: Promise<Hold | undefined>;
  readonly #resolve: (hold: Hold | undefined) => void;
  readonly #reject: (error: unknown) => void;
  #cancel: Cancel | undefined;
  #unlisten: (() => void) | undefined;
  state: 'new' | 'waiting' | 'settled' = 'new';

  constructor(events: RequestEvents, terms: Terms, now: number, around?: Enclosure) {
    this.key = events.key;
    this.#around = around;
    this.seats = events.seats;
    this.events = events;
    this.terms = terms;
    this.began = now;
    const { promise, resolve, reject } = Promise.withResolvers<Hold | undefined>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Starts its limits, `wait` and `signal`. @param giveUp gets the error to refuse it with */
  startLimits(giveUp: (error: LockError) => void): void {
    const { wait, signal } = this.terms;
    const { backend, clock } = this.events.context.engine;
    if (signal?.aborted) {
      giveUp(abortError(this));
      return;
    }
    if (wait > 0 && wait < Number.POSITIVE_INFINITY) {
      this.#cancel = clock.after(wait, () => giveUp(timeoutError(this, backend.name)));
    }
    if (!signal) return;
    const abort = () => giveUp(abortError(this));
    signal.addEventListener('abort', abort, { once: true });
    this.#unlisten = () => signal.removeEventListener('abort', abort);
  }

  grant(hold: Hold | undefined): void {
    this.#settle();
    this.#resolve(hold);
  }

  refuse(error: unknown): void {
    this.#settle();
    this.#reject(error);
  }

  #settle(): void {
    this.state = 'settled';
    this.#around = undefined;
    for (const hold of this.#named) hold.waitsInside--;
    this.#named = NOBODY;
    this.#cancel?.();
    this.#unlisten?.();
  }

  /** Gives what the label of its claim says beside the number of the claim; undefined if that is nothing. */
  circumstances(): Circumstances | undefined {
    const { traceparent } = this;
    if (!this.#around && !this.terms.beside?.length && traceparent === undefined) return undefined;
    const inside: Enclosing[] = [];
    let cut = false;
    for (const hold of this.#enclosing()) {
      const { enclosing } = hold;
      if (inside.some(({ claim }) => claim === enclosing.claim)) continue; // the caller re-entered it
      cut = inside.length === MOST_ENCLOSING;
      if (cut) break;
      inside.push(enclosing);
    }
    const detects = inside.length > 0 ? this.detects : undefined; // nobody waits for a caller that holds nothing
    return { inside, cut, detects, traceparent };
  }

  *#enclosing(): Iterable<EnclosingHold> {
    const { beside = [] } = this.terms;
    for (let i = beside.length - 1; i >= 0; i--) yield beside[i]!;
    if (this.#around) yield* this.#around.holds(this.events.context.name);
  }

  /** Begins the wait. Until it ends, the holds around the caller keep their claims. @returns false if it had begun before */
  beginWait(): boolean {
    if (this.state !== 'new') return false;
    this.state = 'waiting';
    this.#named = [...this.#enclosing()];
    for (const hold of this.#named) hold.waitsInside++;
    return true;
  }
}

function abortError({ key, terms }: AcquireRequest): LockError {
  const cause = terms.signal?.reason;
  return new LockError('LOCK_ABORTED', `the wait for ${quoted(key)} was aborted by its signal`, { key, cause });
}

/**
 * Makes the error at the end of a wait. If the engine did not answer, it says so, since the reader then has to do something else. It does
 * not if other callers of this process had the key most of the time: then the engine was asked only just now.
 */
function timeoutError({ key, queued, began, terms: { wait } }: AcquireRequest, backend: string): LockError {
  const cause = queued?.silence(began + wait / 2);
  const waited = `${quoted(key)} could not be had on ${backend} within ${inMs(wait)}`;
  const [code, why] =
    cause === undefined
      ? ([
          'LOCK_TIMEOUT',
          'others hold it or were first. Wait longer or try later; inspect() shows who, where the engine can list',
        ] as const)
      : (['LOCK_UNAVAILABLE', `${reasonOf(cause)}. What it may have done is being undone; try again`] as const);
  return new LockError(code, `${waited}: ${why}`, { key, backend, cause });
}
