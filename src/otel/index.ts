import { type Meter, metrics, type Tracer, trace } from '@opentelemetry/api';
import { checkNames, flag, invalid, namesOf, reasonOf, shown, whole } from '../core/index.ts';
import { type Locks, runtimeOf } from '../locks.ts';
import { Holders } from './holders.ts';
import { Kinds, kindOfKey } from './kinds.ts';
import { listen } from './listening.ts';
import { LockMetrics } from './metrics.ts';
import { LockSpans } from './spans.ts';

/** Options of `instrument`. */
export interface InstrumentOptions {
  /** The meter; false: no metrics. Default: the meter `holdfast` of the global provider at the time of the call. */
  readonly meter?: Meter | false | undefined;
  /** The tracer; false: no spans. Default: the tracer `holdfast` of the global provider. */
  readonly tracer?: Tracer | false | undefined;
  /** The kind of a key, 1 to 100 characters; there should be few kinds. Default the part before the first `:`. */
  readonly kindOf?: ((key: string) => string) | undefined;
  /** How many kinds are distinguished: 1 to 1,000. Further ones count as `other`. Default 100. */
  readonly maxKinds?: number | undefined;
  /** Whether spans have the key, as `lock.key`. Metrics never have it. Default true. */
  readonly keys?: boolean | undefined;
  /** Whether only requests inside a span get spans. If false, a request outside of a span begins a trace. Default false. */
  readonly inTracesOnly?: boolean | undefined;
}

/** A running measurement. */
export interface Instrumentation extends Disposable {
  /**
   * Ends the measurement. A second call does nothing.
   * @example using telemetry = instrument(locks); // its end does the same as telemetry.stop()
   */
  stop(): void;
}

const NAME = 'holdfast';
const NAMES = namesOf<InstrumentOptions>({
  meter: true,
  tracer: true,
  kindOf: true,
  maxKinds: true,
  keys: true,
  inTracesOnly: true,
});
const INSTRUMENTED = new WeakSet<Locks>();

/**
 * Measures and traces the locks of one `Locks`: metrics by kinds of keys, and spans of waits and holds.
 * @throws LockError `LOCK_INVALID`, also if the locks are instrumented already; `LOCK_CLOSED`
 * @example
 * const telemetry = instrument(locks, { kindOf: (key) => key.split(':')[0]! });
 * telemetry.stop(); // when nothing is to be measured any more
 */
export function instrument(locks: Locks, options: InstrumentOptions = {}): Instrumentation {
  const runtime = runtimeOf(locks, 'instrument()');
  checkNames(options, NAMES, 'the options of instrument()');
  const { meter = metrics.getMeter(NAME), tracer = trace.getTracer(NAME) } = options;
  const { kindOf = kindOfKey, maxKinds = 100, keys = true, inTracesOnly = false } = options;
  checkMethod(meter, 'createHistogram', 'meter');
  checkMethod(tracer, 'startSpan', 'tracer');
  for (const [name, value] of Object.entries({ keys, inTracesOnly })) flag(value, name);
  if (typeof kindOf !== 'function') throw invalid(`kindOf is ${shown(kindOf)}; it must be a function`);
  const kinds = new Kinds(kindOf, whole(maxKinds, 'maxKinds', 1, 1_000), warning());
  runtime.assertOpen();
  if (INSTRUMENTED.has(locks))
    throw invalid('these Locks are instrumented already, and would be counted twice; stop() that first');
  const warn = warning();
  const failed = (error: unknown): void =>
    warn(
      () => `telemetry of locks failed: ${error instanceof Error ? (error.stack ?? error.message) : reasonOf(error)}`,
    );
  const measured = meter && new LockMetrics(meter, kinds);
  const traced = tracer && new LockSpans(tracer, { kinds, keys, inTracesOnly, holders: new Holders(locks), failed });
  const both = [measured, traced].filter((each) => each !== false);
  const listeners = both.map((each) => each.listeners);
  const unlisten = listen(locks.number, listeners, failed);
  if (traced) runtime.traceparent = traced.begin;
  const unmark = (): void => {
    runtime.traceparent = undefined;
    INSTRUMENTED.delete(locks);
  };
  const ends = [unlisten, ...both.map((each) => () => each.stop()), unmark];
  INSTRUMENTED.add(locks);
  const stop = (): void => {
    for (const end of ends.splice(0)) {
      try {
        end();
      } catch (error) {
        failed(error);
      }
    }
  };
  return { stop, [Symbol.dispose]: stop };
}

function checkMethod(given: unknown, method: string, name: string): void {
  if (given === false) return;
  if (typeof (given as Record<string, unknown> | null)?.[method] !== 'function')
    throw invalid(`${name} is ${shown(given)}; it must be a ${name} of OpenTelemetry, or false`);
}

/** Makes a function that prints only the first warning that it gets. No trouble with telemetry disturbs a lock. */
function warning(): (message: () => string) => void {
  let isGiven = false;
  return (message) => {
    if (isGiven) return;
    isGiven = true;
    process.emitWarning(message(), 'HoldfastTelemetryWarning');
  };
}
