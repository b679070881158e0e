import type { SeatRequest } from '../claims/numbered-claim.ts';
import { ALL_SEATS, isExclusive, type Seats } from '../contract/admission.ts';
import { isLockError } from '../contract/errors.ts';
import {
  channels,
  EVENT_VERSION,
  emit,
  eventContext,
  type LockEvent,
  type LockType,
  nextNumber,
} from '../contract/events.ts';
import type { Terms } from '../contract/terms.ts';
import type { LineContext } from './line-context.ts';

/** What listeners hear of one request, from its beginning to the end of the hold that it gets. */
export class RequestEvents {
  readonly key: string;
  readonly seats: Seats;
  readonly number: number = nextNumber('requests');
  /** The async context of the caller. */
  readonly #caller = eventContext();
  readonly context: LineContext;
  readonly #terms: Terms;
  readonly #began: number;
  #waited = false;

  constructor(context: LineContext, { key, seats, terms }: Omit<SeatRequest, 'circumstances'>, began: number) {
    this.context = context;
    this.key = key;
    this.seats = seats;
    this.#terms = terms;
    this.#began = began;
  }

  /** @param token of an exclusive hold */
  tell(name: Exclude<keyof typeof channels, 'forced'>, token?: bigint, more?: Partial<LockEvent>): void {
    if (channels[name].hasSubscribers) emit(name, this.#caller, () => this.event(token, more));
  }

  /** The request has to wait, here or in the engine's line. Listeners hear it once. */
  waits(): void {
    if (this.#waited) return;
    this.#waited = true;
    this.tell('waiting');
  }

  /** The request ended so. */
  ends(how: 'acquired' | 'handedOver' | 'reentered' | 'refused', token?: bigint): void {
    this.tell(how, token, { duration: this.#sinceBegin });
  }

  /** The request ended with this error. */
  fails(error: unknown): void {
    const how = isLockError(error, 'LOCK_TIMEOUT')
      ? 'timedOut'
      : isLockError(error, 'LOCK_ABORTED')
        ? 'aborted'
        : 'failed';
    this.tell(how, undefined, { duration: this.#sinceBegin, error });
  }

  get #sinceBegin(): number {
    return this.context.engine.clock.now() - this.#began;
  }

  event(token?: bigint, more?: Partial<LockEvent>): LockEvent {
    const { take, of } = this.seats;
    const { label, all } = this.#terms;
    const event: { -readonly [F in keyof LockEvent]: LockEvent[F] } = {
      version: EVENT_VERSION,
      locks: this.context.number,
      request: this.number,
      backend: this.context.engine.backend.name,
      key: this.key,
      type: typeOf(this.seats),
      label,
      take,
      of,
    };
    // Not spread, which copies: an event is made at every grant and release.
    if (all !== undefined) event.all = all;
    if (token !== undefined) event.token = token;
    return more ? Object.assign(event, more) : event;
  }
}

function typeOf(seats: Seats): LockType {
  if (seats.of !== ALL_SEATS) return 'semaphore';
  if (!isExclusive(seats)) return 'reader';
  return seats.readWrite ? 'writer' : 'mutex';
}
