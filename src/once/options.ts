import {
  checkNames,
  DEFAULT_LABEL,
  type Duration,
  flag,
  invalid,
  LayeredOptions,
  type LockOptions,
  MAX_DURATION_MS,
  milliseconds,
  namesOf,
  sharedWith,
  shown,
  type Traits,
  UNSHARED_HOLD,
} from '../core/index.ts';
import { keysOf, millisecondsOf, type TickKeys } from './tick.ts';
import { longestKept, type Window, windowOf } from './window.ts';

/** What a tick does while an earlier tick of its name runs. */
export type Overlap = 'skip' | 'queue' | 'allow';

/** Options that all instances of a schedule should share. */
export interface OnceOptions {
  /** How long a tick is young. After this time no instance asks for it, but a grant up to 5 s later still counts. Default 1 minute; at least 1 ms. */
  readonly within?: Duration | undefined;
  /** How far the clocks of two instances may differ. Default 1 s. */
  readonly skew?: Duration | undefined;
  /** If the run fails or its process dies, another instance that asked for the tick runs it, while the tick is young. Default false. */
  readonly retry?: boolean | undefined;
  /**
   * What to do while an earlier tick of this name runs: run beside it (`allow`, the default), not at all (`skip`), or after it, if it ends while this
   * tick is young (`queue`).
   */
  readonly overlap?: Overlap | undefined;
  /** The lease of a run: a dead process holds it for this time at most. Default 30 s; the engine sets the bounds. */
  readonly ttl?: Duration | undefined;
  /** How long before the deadline a run learns that its lease is lost. Default a tenth of `ttl`; at most two thirds of it. */
  readonly notice?: Duration | undefined;
  /** A name for people, in listings and in the `by` that other instances get. Default `host:pid`. At most 128 characters. */
  readonly label?: string | undefined;
  /** Ends the wait, and aborts the signal of a run. */
  readonly signal?: AbortSignal | undefined;
}

/** Options after checking, every duration in ms. */
export interface OncePlan {
  readonly keys: TickKeys;
  readonly window: Window;
  readonly skew: number;
  readonly retry: boolean;
  readonly overlap: Overlap;
  /** The options of every lock of the run. */
  readonly lock: LockOptions;
  readonly ttl: number;
  /** How long an instance has to watch the lease of an earlier run before it sees that the runner is dead, ms; 0: the engine says so at once. */
  readonly watch: number;
  readonly label: string;
  readonly signal: AbortSignal | undefined;
}

export const ONCE_OPTIONS = namesOf<OnceOptions>({
  within: true,
  skew: true,
  retry: true,
  overlap: true,
  ...sharedWith('once'),
});
const DEFAULT_WITHIN_MS = 60_000;
const DEFAULT_SKEW_MS = 1_000;
/** A clock that runs slow takes this many times as long for the same lease. */
const SLOW_CLOCK_RATE = 1.01;
/** The time that the answers of the engine take on both ends of a wait for an expiry, ms. */
export const ANSWERS_MS = 250;
const OVERLAPS: readonly unknown[] = ['skip', 'queue', 'allow'] satisfies readonly Overlap[];

/**
 * @throws LockError `LOCK_INVALID`, naming the option, the value and the bound
 * @param defaults the defaults of the `Locks`; only `ttl`, `notice`, `label` and `spin` have an effect
 */
export function oncePlan(
  traits: Traits,
  name: string,
  tick: unknown,
  defaults: LockOptions,
  options: OnceOptions = {},
): OncePlan {
  checkNames(options, ONCE_OPTIONS, 'the options of once()');
  const {
    retry = false,
    overlap = 'allow',
    ttl = defaults.ttl,
    notice = defaults.notice,
    label = defaults.label ?? DEFAULT_LABEL,
    signal,
  } = options;
  if (!OVERLAPS.includes(overlap))
    throw invalid(`overlap is ${shown(overlap)}; it must be 'skip', 'queue' or 'allow'`, name);
  const within = milliseconds(options.within ?? DEFAULT_WITHIN_MS, 'within', { min: 1, max: MAX_DURATION_MS });
  const skew = milliseconds(options.skew ?? DEFAULT_SKEW_MS, 'skew', { min: 0, max: MAX_DURATION_MS });
  const due = millisecondsOf(tick);
  const keys = keysOf(name, due);
  const window = windowOf(due, within, skew);
  if (longestKept(window) > traits.ttl.max)
    throw invalid(
      `within is ${within} ms and skew ${skew} ms; the engine keeps a key for ${traits.ttl.max} ms at most, which must be within + 2 × skew + 5 s or more${traits.ttl.advice ? `; ${traits.ttl.advice}` : ''}`,
      name,
    );
  const lock = { ttl, notice, label, signal, spin: defaults.spin, ...UNSHARED_HOLD } as const;
  const { terms } = new LayeredOptions(traits, lock);
  return {
    keys,
    window,
    skew,
    retry: flag(retry, 'retry', name),
    overlap,
    lock,
    ttl: terms.ttl,
    watch: traits.observedExpiry ? terms.lengths.waiter * SLOW_CLOCK_RATE + ANSWERS_MS : 0,
    label,
    signal,
  };
}
