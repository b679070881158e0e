import type { Counter, Histogram, Meter, ObservableUpDownCounter } from '@opentelemetry/api';

/** Buckets in seconds: from a grant at once to more than a minute of waiting. */
const WAITS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Jobs hold longer than anybody waits. */
const HOLDS = [...WAITS, 900, 3_600];
/** For leases from a second to some minutes. */
const MARGINS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 60, 120, 300];

export interface Instruments {
  readonly wait: Histogram;
  readonly hold: Histogram;
  readonly margin: Histogram;
  readonly requests: Counter;
  readonly lost: Counter;
  readonly renewalFailures: Counter;
  readonly waiting: ObservableUpDownCounter;
  readonly held: ObservableUpDownCounter;
}

/** Follows the rules of OpenTelemetry: https://opentelemetry.io/docs/specs/semconv/general/metrics/ */
export function instrumentsOf(meter: Meter): Instruments {
  const seconds = (name: string, description: string, explicitBucketBoundaries: number[]): Histogram =>
    meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries } });
  const counter = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(name, { description, unit });
  return {
    wait: seconds('lock.wait.duration', 'From the request of a lock to its end, granted or not.', WAITS),
    hold: seconds('lock.hold.duration', 'From the grant of a lock to its release or loss.', HOLDS),
    margin: seconds('lock.renewal.margin', 'What was left of a lease when the engine confirmed a renewal.', MARGINS),
    requests: counter('lock.requests', '{request}', 'Requests that ended, by their outcome.'),
    lost: counter('lock.lost', '{hold}', 'Holds that were lost: the holder was told to stop.'),
    renewalFailures: counter(
      'lock.renewal.failures',
      '{renewal}',
      'Renewals that the engine did not confirm; they are tried again until the deadline.',
    ),
    waiting: meter.createObservableUpDownCounter('lock.waiting', {
      description: 'Requests that wait now.',
      unit: '{request}',
    }),
    held: meter.createObservableUpDownCounter('lock.held', { description: 'Holds that last now.', unit: '{hold}' }),
  };
}
