import type { Attributes, BatchObservableCallback, Meter } from '@opentelemetry/api';
import { isLockError } from '../core/errors.ts';
import type { LockEvent } from '../core/events.ts';
import { type Instruments, instrumentsOf } from './instruments.ts';
import type { Kinds } from './kinds.ts';
import { type End, forEachEnd, type Listeners, OUTCOMES } from './listening.ts';

/** Of one kind of key and one type of lock. */
interface Series {
  readonly attributes: Attributes;
  /** The same, with the outcome beside it. Made once: they are handed over at every event. */
  readonly outcomes: Map<string, Attributes>;
  waiting: number;
  held: number;
}

/** Counts and measures the locks of one `Locks`. */
export class LockMetrics {
  readonly listeners: Listeners;
  readonly #kinds: Kinds;
  readonly #meter: Meter;
  readonly #instruments: Instruments;
  readonly #series = new Map<string, Series>();
  /** Requests that wait, and holds that last, by the number of the request. */
  readonly #waiting = new Map<number, Series>();
  readonly #held = new Map<number, Series>();

  constructor(meter: Meter, kinds: Kinds) {
    this.#kinds = kinds;
    this.#meter = meter;
    this.#instruments = instrumentsOf(meter);
    this.listeners = {
      waiting: (event) => this.#waits(event),
      ...forEachEnd((event, end) => this.#ended(event, end)),
      released: (event) => this.#over(event, 'released'),
      lost: (event) => this.#lost(event),
      renewed: (event) => this.#renewed(event),
      renewalFailed: (event) => this.#instruments.renewalFailures.add(1, this.#of(event).attributes),
    };
    const { waiting, held } = this.#instruments;
    meter.addBatchObservableCallback(this.#observe, [waiting, held]);
  }

  stop(): void {
    const { waiting, held } = this.#instruments;
    this.#meter.removeBatchObservableCallback(this.#observe, [waiting, held]);
  }

  readonly #observe: BatchObservableCallback = (result) => {
    const { waiting, held } = this.#instruments;
    for (const series of this.#series.values()) {
      result.observe(waiting, series.waiting, series.attributes);
      result.observe(held, series.held, series.attributes);
    }
  };

  #waits(event: LockEvent): void {
    const series = this.#of(event);
    series.waiting++;
    this.#waiting.set(event.request, series);
  }

  #ended(event: LockEvent, end: End): void {
    const { request, duration = 0, error } = event;
    const series = this.#waiting.get(request) ?? this.#of(event);
    if (this.#waiting.delete(request)) series.waiting--;
    if (end === 'acquired' || end === 'handedOver') {
      series.held++;
      this.#held.set(request, series);
    }
    const attributes = withOutcome(series, OUTCOMES[end], end === 'failed' ? error : undefined);
    this.#instruments.wait.record(duration / 1_000, attributes);
    this.#instruments.requests.add(1, attributes);
  }

  #lost(event: LockEvent): void {
    this.#instruments.lost.add(1, this.#of(event).attributes);
    this.#over(event, 'lost');
  }

  /** Once: what was told as lost may be released afterwards. */
  #over({ request, duration = 0 }: LockEvent, outcome: string): void {
    const series = this.#held.get(request);
    if (!series) return;
    this.#held.delete(request);
    series.held--;
    this.#instruments.hold.record(duration / 1_000, withOutcome(series, outcome));
  }

  #renewed(event: LockEvent): void {
    const { margin = Number.POSITIVE_INFINITY } = event;
    if (Number.isFinite(margin)) this.#instruments.margin.record(margin / 1_000, this.#of(event).attributes);
  }

  #of({ request, key, type, backend }: LockEvent): Series {
    const known = this.#held.get(request);
    if (known) return known;
    const kind = this.#kinds.of(key);
    const name = `${type}:${kind}`;
    const series = this.#series.get(name);
    if (series) return series;
    const attributes = { 'lock.backend': backend, 'lock.kind': kind, 'lock.type': type };
    const made: Series = { attributes, outcomes: new Map(), waiting: 0, held: 0 };
    this.#series.set(name, made);
    return made;
  }
}

function withOutcome({ attributes, outcomes }: Series, outcome: string, error?: unknown): Attributes {
  const type = error === undefined ? undefined : isLockError(error) ? error.code : '_OTHER';
  const name = type ?? outcome;
  const known = outcomes.get(name);
  if (known) return known;
  const made = { ...attributes, 'lock.outcome': outcome, ...(type !== undefined && { 'error.type': type }) };
  outcomes.set(name, made);
  return made;
}
