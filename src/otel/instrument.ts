import { type Meter, metrics } from '@opentelemetry/api';
import { invalid, shown } from '../core/errors.ts';
import { checkNames, whole } from '../core/options.ts';
import { type Locks, runtimeOf } from '../locks.ts';
import { Kinds, kindOfKey } from './kinds.ts';
import { listen } from './listening.ts';
import { LockMetrics } from './metrics.ts';

export interface InstrumentOptions {
  /** Where metrics go; false: nowhere. Default the meter `holdfast` of the global provider, as it is when `instrument` is called. */
  readonly meter?: Meter | false | undefined;
  /** The kind of a key, 1 to 100 characters: there should be few. Default the part before the first `:`. */
  readonly kindOf?: ((key: string) => string) | undefined;
  /** So many kinds at most are told apart: 1 to 1,000. Keys of further ones are of the kind `other`. Default 100. */
  readonly maxKinds?: number | undefined;
}

export interface Instrumentation extends Disposable {
  /** Ends it: nothing is counted any more. Harmless a second time. */
  stop(): void;
}

const NAMES: ReadonlySet<string> = new Set('meter kindOf maxKinds'.split(' ') satisfies readonly string[]);
const INSTRUMENTED = new WeakSet<Locks>();

/**
 * Measures the locks of one `Locks`, by kinds of keys.
 * @throws LockError `LOCK_INVALID`, also for what is instrumented already; `LOCK_CLOSED`
 */
export function instrument(locks: Locks, options: InstrumentOptions = {}): Instrumentation {
  const runtime = runtimeOf(locks, 'instrument()');
  checkNames(options, NAMES, 'the options of instrument()');
  const { meter = metrics.getMeter('holdfast'), kindOf = kindOfKey, maxKinds = 100 } = options;
  checkMethod(meter, 'createHistogram', 'meter');
  if (typeof kindOf !== 'function') throw invalid(`kindOf is ${shown(kindOf)}; it must be a function`);
  const kinds = new Kinds(kindOf, whole(maxKinds, 'maxKinds', 1, 1_000), warn);
  runtime.assertOpen();
  if (INSTRUMENTED.has(locks))
    throw invalid('these Locks are instrumented already, and would be counted twice; stop() that first');
  INSTRUMENTED.add(locks);
  const measured = meter && new LockMetrics(meter, kinds);
  const ends = measured ? [listen(locks.number, measured.listeners, failing()), () => measured.stop()] : [];
  const stop = (): void => {
    for (const end of ends.splice(0)) end();
    INSTRUMENTED.delete(locks);
  };
  return { stop, [Symbol.dispose]: stop };
}

function checkMethod(given: unknown, method: string, name: string): void {
  if (given === false) return;
  if (typeof (given as Record<string, unknown> | null)?.[method] !== 'function')
    throw invalid(`${name} is ${shown(given)}; it must be a ${name} of OpenTelemetry, or false`);
}

const warn = (message: string): void => process.emitWarning(message, 'HoldfastTelemetryWarning');

/** What OpenTelemetry throws is told once, and is no trouble of the lock. */
function failing(): (error: unknown) => void {
  let told = false;
  return (error) => {
    if (told) return;
    told = true;
    warn(`telemetry of locks failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  };
}
