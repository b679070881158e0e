import type { Attributes, BatchObservableCallback, Meter } from '@opentelemetry/api';
import { inNoContext } from '../core/context.ts';
import { isLockError } from '../core/errors.ts';
import type { LockEvent } from '../core/events.ts';
import { type Instruments, instrumentsOf } from './instruments.ts';
import type { Kinds } from './kinds.ts';
import { type End, forEachEnd, type Listeners, OUTCOMES } from './listening.ts';

type Handler = (event: LockEvent) => void;

/** So many events are measured at a time. One by one, they take about twice as long: by the next one their code is cold again. */
const MOST_TOLD = 256;

/** The attributes of a series, with an outcome beside them. */
interface Outcome {
  readonly attributes: Attributes;
  /** Requests that ended so, and are not handed over yet. */
  requests: number;
}

/** Of one kind of key and one type of lock. */
interface Series {
  readonly attributes: Attributes;
  /** By outcome of a request or a hold. */
  readonly outcomes: Map<string, Outcome>;
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

  /** What was told, and is not measured yet. */
  readonly #told: { readonly handler: Handler; readonly event: LockEvent }[] = [];
  readonly #failed: (error: unknown) => void;

  /** @param failed told of what the meter threw */
  constructor(meter: Meter, kinds: Kinds, failed: (error: unknown) => void) {
    this.#kinds = kinds;
    this.#failed = failed;
    this.#meter = meter;
    this.#instruments = instrumentsOf(meter);
    const handlers: Listeners = {
      waiting: (event) => this.#waits(event),
      ...forEachEnd((event, end) => this.#ended(event, end)),
      released: (event) => this.#over(event, 'released'),
      lost: (event) => this.#lost(event),
      renewed: (event) => this.#renewed(event),
      renewalFailed: (event) => this.#instruments.renewalFailures.add(1, this.#of(event).attributes),
    };
    const later = Object.entries(handlers).map(([name, handler]) => [
      name,
      (event: LockEvent) => this.#later(handler, event),
    ]);
    this.listeners = Object.fromEntries(later) as Listeners;
    const { waiting, held } = this.#instruments;
    meter.addBatchObservableCallback(this.#observe, [waiting, held]);
  }

  stop(): void {
    this.#catchUp();
    this.#handOver();
    const { waiting, held } = this.#instruments;
    this.#meter.removeBatchObservableCallback(this.#observe, [waiting, held]);
  }

  readonly #observe: BatchObservableCallback = (result) => {
    this.#catchUp();
    const { waiting, held } = this.#instruments;
    for (const series of this.#series.values()) {
      result.observe(waiting, series.waiting, series.attributes);
      result.observe(held, series.held, series.attributes);
    }
    this.#handOver();
  };

  /** It is measured with others, at the latest when metrics are collected. */
  #later(handler: Handler, event: LockEvent): void {
    if (this.#told.push({ handler, event }) >= MOST_TOLD) inNoContext(this.#catchUp);
  }

  readonly #catchUp = (): void => {
    for (const { handler, event } of this.#told.splice(0)) {
      try {
        handler(event);
      } catch (error) {
        this.#failed(error);
      }
    }
  };

  /** Requests are counted here, and handed over when metrics are collected: that takes a tenth of what each one by itself would. */
  #handOver(): void {
    for (const { outcomes } of this.#series.values()) {
      for (const outcome of outcomes.values()) {
        if (outcome.requests > 0) this.#instruments.requests.add(outcome.requests, outcome.attributes);
        outcome.requests = 0;
      }
    }
  }

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
    const outcome = outcomeOf(series, OUTCOMES[end], end === 'failed' ? error : undefined);
    outcome.requests++;
    this.#instruments.wait.record(duration / 1_000, outcome.attributes);
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
    this.#instruments.hold.record(duration / 1_000, outcomeOf(series, outcome).attributes);
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

function outcomeOf({ attributes, outcomes }: Series, outcome: string, error?: unknown): Outcome {
  const type = error === undefined ? undefined : isLockError(error) ? error.code : '_OTHER';
  const name = type ?? outcome;
  const known = outcomes.get(name);
  if (known) return known;
  const more = { 'lock.outcome': outcome, ...(type !== undefined && { 'error.type': type }) };
  const made: Outcome = { attributes: { ...attributes, ...more }, requests: 0 };
  outcomes.set(name, made);
  return made;
}
