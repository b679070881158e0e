import type { Attributes, BatchObservableCallback, Counter, Histogram, Meter } from '@opentelemetry/api';
import { inNoContext, type LockEvent, type LockType, RecentKeys } from '../core/index.ts';
import type { Kinds } from './kinds.ts';
import { type End, forEachEnd, type Listeners, OUTCOMES, typeOfError } from './listening.ts';

/** Bounds of buckets for waits, s: from a grant at once to five minutes. */
const WAIT_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Bounds for holds, s: a job may hold a lock for longer than requests wait. */
const HOLD_BUCKETS_S = [...WAIT_BUCKETS_S, 900, 3_600];
/** Bounds for the time left of a lease, s. A lease lasts from a second to some minutes. */
const MARGIN_BUCKETS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 60, 120, 300];

/** Follows the rules of OpenTelemetry: https://opentelemetry.io/docs/specs/semconv/general/metrics/ */
function instrumentsOf(meter: Meter) {
  const seconds = (name: string, description: string, explicitBucketBoundaries: number[]): Histogram =>
    meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries } });
  const counter = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(name, { description, unit });
  return {
    wait: seconds('lock.wait.duration', 'From the request of a lock to its end, granted or not.', WAIT_BUCKETS_S),
    hold: seconds('lock.hold.duration', 'From the grant of a lock to its release or loss.', HOLD_BUCKETS_S),
    margin: seconds(
      'lock.renewal.margin',
      'What was left of a lease when the engine confirmed a renewal.',
      MARGIN_BUCKETS_S,
    ),
    requests: counter('lock.requests', '{request}', 'Requests that ended, by their outcome.'),
    lost: counter('lock.lost', '{hold}', 'Holds that were lost: the holder was told to stop.'),
    renewalFailures: counter(
      'lock.renewal.failures',
      '{renewal}',
      'Renewals that the engine did not confirm; they are tried again until the deadline.',
    ),
    memoStored: counter('lock.memo.stored', '{value}', 'What runs of memos left to be kept, by its state.'),
    waiting: meter.createObservableUpDownCounter('lock.waiting', {
      description: 'Requests that wait now.',
      unit: '{request}',
    }),
    held: meter.createObservableUpDownCounter('lock.held', { description: 'Holds that last now.', unit: '{hold}' }),
  };
}

/** How many values go to the SDK at a time. The SDK is slow, so it must not run at every request. */
const MAX_BATCH = 256;

/** Values that the SDK does not have yet. All have the same attributes. */
class Measurements {
  readonly #histogram: Histogram;
  readonly #attributes: Attributes;
  readonly #counter: Counter | undefined;
  #values: number[] = [];

  /** @param counter counts the values, too */
  constructor(histogram: Histogram, attributes: Attributes, counter?: Counter) {
    this.#histogram = histogram;
    this.#attributes = attributes;
    this.#counter = counter;
  }

  add(value: number): void {
    if (this.#values.push(value) >= MAX_BATCH) this.handOver();
  }

  /** Gives the values to the SDK, when there are `MAX_BATCH` or when metrics are collected. */
  handOver(): void {
    const values = this.#values;
    if (values.length === 0) return;
    this.#values = [];
    this.#counter?.add(values.length, this.#attributes);
    for (const value of values) this.#histogram.record(value, this.#attributes);
  }
}

type Measured = 'wait' | 'hold' | 'margin';

/** What requests of one kind and type have in common. Measurements are by outcome, or by type of the error. */
interface Series extends Readonly<Record<Measured, Map<string, Measurements>>> {
  readonly type: LockType;
  readonly attributes: Attributes;
  waiting: number;
  held: number;
}

/** Counts and measures the locks of one `Locks`. */
export class LockMetrics {
  readonly listeners: Listeners;
  readonly #kinds: Kinds;
  readonly #meter: Meter;
  readonly #instruments: ReturnType<typeof instrumentsOf>;
  readonly #series = new Map<string, Series>();
  readonly #measured: Measurements[] = [];
  /** Series by key, since to find the kind of a key takes as long as all other work here. */
  readonly #recent = new RecentKeys<Series>();
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
      lost: (event) => {
        this.#instruments.lost.add(1, this.#of(event).attributes);
        this.#over(event, 'lost');
      },
      renewed: (event) => {
        const { margin = Number.POSITIVE_INFINITY } = event;
        if (Number.isFinite(margin)) this.#measure('margin', this.#of(event), margin);
      },
      left: (event) =>
        this.#instruments.memoStored.add(1, { ...this.#of(event).attributes, 'lock.memo.state': event.state! }),
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

  /** Runs in no caller's context: the values come from many callers. */
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
    this.#measure('wait', series, duration, OUTCOMES[end], type);
  }

  /** Counts the end of a hold once: a lost hold may be released later. */
  #over({ request, duration = 0 }: LockEvent, outcome: string): void {
    const series = this.#held.get(request);
    if (!series) return;
    this.#held.delete(request);
    series.held--;
    this.#measure('hold', series, duration, outcome);
  }

  #of({ request, key, type, backend }: LockEvent): Series {
    const known = this.#held.get(request) ?? this.#recent.get(key);
    if (known?.type === type) return known;
    const series = this.#seriesOf(key, type, backend);
    this.#recent.set(key, series);
    return series;
  }

  #seriesOf(key: string, type: LockType, backend: string): Series {
    const kind = this.#kinds.of(key);
    const name = `${type}:${kind}`;
    const series = this.#series.get(name);
    if (series) return series;
    const attributes = { 'lock.backend': backend, 'lock.kind': kind, 'lock.type': type };
    const made = { type, attributes, wait: new Map(), hold: new Map(), margin: new Map(), waiting: 0, held: 0 };
    this.#series.set(name, made);
    return made;
  }

  /** @param type the type of the error, if there was one: it says more than the outcome */
  #measure(what: Measured, series: Series, ms: number, outcome?: string, type?: string): void {
    const name = type ?? outcome ?? '';
    let measurements = series[what].get(name);
    if (!measurements) {
      const attributes = { ...series.attributes };
      if (outcome !== undefined) attributes['lock.outcome'] = outcome;
      if (type !== undefined) attributes['error.type'] = type;
      const counter = what === 'wait' ? this.#instruments.requests : undefined;
      measurements = new Measurements(this.#instruments[what], attributes, counter);
      series[what].set(name, measurements);
      this.#measured.push(measurements);
    }
    measurements.add(ms / 1_000);
  }
}
