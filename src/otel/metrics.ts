import type { Attributes, BatchObservableCallback, Counter, Histogram, Meter } from '@opentelemetry/api';
import { inNoContext } from '../core/contract/context.ts';
import type { LockEvent, LockType } from '../core/contract/events.ts';
import { type Instruments, instrumentsOf } from './instruments.ts';
import type { Kinds } from './kinds.ts';
import { type End, forEachEnd, type Listeners, OUTCOMES, typeOfError } from './listening.ts';
import { Measurements } from './measurements.ts';

/** How many keys remember their series. */
const MOST_RECENT = 1_000;

/** The measurements of one kind of keys and one type of lock. */
interface Series {
  readonly type: LockType;
  readonly attributes: Attributes;
  readonly margins: Measurements;
  /** Counters by outcome. */
  readonly waits: Map<string, Measurements>;
  readonly holds: Map<string, Measurements>;
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
  readonly #measured: Measurements[] = [];
  /** Kinds by key: to find the kind of a key again would take as long as all the rest. */
  readonly #recent = new Map<string, Series>();
  /** Waiting requests and current holds, by the number of the request. */
  readonly #waiting = new Map<number, Series>();
  readonly #held = new Map<number, Series>();

  constructor(meter: Meter, kinds: Kinds) {
    this.#kinds = kinds;
    this.#meter = meter;
    this.#instruments = instrumentsOf(meter);
    this.listeners = {
      waiting: (event) => this.#waits(event),
      ...forEachEnd((event, end) => this.#countEnd(event, end)),
      released: (event) => this.#over(event, 'released'),
      lost: (event) => this.#countLoss(event),
      renewed: (event) => this.#countRenewal(event),
      renewalFailed: (event) => this.#instruments.renewalFailures.add(1, this.#of(event).attributes),
    };
    const { waiting, held } = this.#instruments;
    meter.addBatchObservableCallback(this.#observe, [waiting, held]);
  }

  stop(): void {
    this.#handOver();
    const { waiting, held } = this.#instruments;
    this.#meter.removeBatchObservableCallback(this.#observe, [waiting, held]);
  }

  readonly #observe: BatchObservableCallback = (result) => {
    this.#handOver();
    const { waiting, held } = this.#instruments;
    for (const series of this.#series.values()) {
      result.observe(waiting, series.waiting, series.attributes);
      result.observe(held, series.held, series.attributes);
    }
  };

  /** In no caller's context: the values come from many callers. */
  #handOver(): void {
    for (const measurements of this.#measured) inNoContext(() => measurements.handOver());
  }

  #waits(event: LockEvent): void {
    const series = this.#of(event);
    series.waiting++;
    this.#waiting.set(event.request, series);
  }

  #countEnd(event: LockEvent, end: End): void {
    const { request, duration = 0, error } = event;
    const series = this.#waiting.get(request) ?? this.#of(event);
    if (this.#waiting.delete(request)) series.waiting--;
    if (end === 'acquired' || end === 'handedOver') {
      series.held++;
      this.#held.set(request, series);
    }
    const type = end === 'failed' ? typeOfError(error) : undefined;
    const { wait, requests } = this.#instruments;
    this.#with(series, series.waits, OUTCOMES[end], type, wait, requests).add(duration / 1_000);
  }

  #countLoss(event: LockEvent): void {
    this.#instruments.lost.add(1, this.#of(event).attributes);
    this.#over(event, 'lost');
  }

  /** Counts a hold once: a lost hold may be released later. */
  #over({ request, duration = 0 }: LockEvent, outcome: string): void {
    const series = this.#held.get(request);
    if (!series) return;
    this.#held.delete(request);
    series.held--;
    this.#with(series, series.holds, outcome, undefined, this.#instruments.hold).add(duration / 1_000);
  }

  #countRenewal(event: LockEvent): void {
    const { margin = Number.POSITIVE_INFINITY } = event;
    if (Number.isFinite(margin)) this.#of(event).margins.add(margin / 1_000);
  }

  #of({ request, key, type, backend }: LockEvent): Series {
    const known = this.#held.get(request) ?? this.#recent.get(key);
    if (known?.type === type) return known;
    const series = this.#seriesOf(key, type, backend);
    if (this.#recent.size >= MOST_RECENT) this.#recent.clear();
    this.#recent.set(key, series);
    return series;
  }

  #seriesOf(key: string, type: LockType, backend: string): Series {
    const kind = this.#kinds.of(key);
    const name = `${type}:${kind}`;
    const series = this.#series.get(name);
    if (series) return series;
    const attributes = { 'lock.backend': backend, 'lock.kind': kind, 'lock.type': type };
    const margins = this.#measuring(this.#instruments.margin, attributes);
    const made = { type, attributes, margins, waits: new Map(), holds: new Map(), waiting: 0, held: 0 };
    this.#series.set(name, made);
    return made;
  }

  /** @param type of the error, if there was one: it says more than the outcome */
  #with(
    { attributes }: Series,
    known: Map<string, Measurements>,
    outcome: string,
    type: string | undefined,
    histogram: Histogram,
    counter?: Counter,
  ): Measurements {
    const name = type ?? outcome;
    const measurements = known.get(name);
    if (measurements) return measurements;
    const more = { 'lock.outcome': outcome, ...(type !== undefined && { 'error.type': type }) };
    const made = this.#measuring(histogram, { ...attributes, ...more }, counter);
    known.set(name, made);
    return made;
  }

  #measuring(histogram: Histogram, attributes: Attributes, counter?: Counter): Measurements {
    const made = new Measurements(histogram, attributes, counter);
    this.#measured.push(made);
    return made;
  }
}
