import type { Traits } from '../core/backend.ts';
import { type Duration, milliseconds } from '../core/duration.ts';
import { invalid, shown } from '../core/errors.ts';
import { checkNames, DEFAULT_LABEL, type LockOptions, type Spin, spin, UNSHARED_HOLD } from '../core/options.ts';

/** What all candidates and observers of an election should say alike. */
export interface LeaderOptions {
  /** Lease: how long a leader that died keeps others out. Default 30 s; bounds are the engine's. */
  readonly ttl?: Duration | undefined;
  /** After a term that lapsed, and was not given up, nobody leads for so long: 0 to 60 s. Default 0. Give observers the same. */
  readonly delay?: Duration | undefined;
  /** How long before the deadline a lost term is told. Default a tenth of `ttl`; less than two thirds of it. */
  readonly notice?: Duration | undefined;
  /** Who this is, for observers: an address, say. Default `host:pid`. At most 128 characters. */
  readonly label?: string | undefined;
  /**
   * Pause before the next campaign after a term whose function ended by itself, and after a campaign that failed: it doubles as long as
   * terms are shorter than `bound`. Default from 100 ms to 30 s, half of it random.
   */
  readonly pause?: Spin | undefined;
  /** ms after the end of a term from which a function that has not settled is told as overdue. Default 10 s. */
  readonly settle?: Duration | undefined;
  /** After a term, campaign again. Default true; with false `run` leads one term, and gives its function's error. */
  readonly autoCampaign?: boolean | undefined;
  /** Told of a function that failed, after its term. Default: a warning of the process. Not with `autoCampaign: false`. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Options after checking, every duration in ms. */
export interface LeaderPlan {
  readonly lock: LockOptions;
  readonly label: string;
  readonly pause: { readonly pause: number; readonly jitter: number; readonly bound: number };
  readonly settle: number;
  readonly autoCampaign: boolean;
  readonly onError: (error: unknown) => void;
}

const NAMES: ReadonlySet<string> = new Set(
  'ttl delay notice label pause settle autoCampaign onError'.split(' ') satisfies readonly string[],
);
const PAUSE = { pause: 100, jitter: 0.5, bound: 30_000 };
const SETTLE = 10_000;
/** How often a candidate gives a sign of life where the engine wakes it, ms: most stand in line for as long as their process lives. */
const SIGN_OF_LIFE = 8_000;

/**
 * @param defaults those of the `Locks`, of which the ones for a single lock do not count
 * @throws LockError `LOCK_INVALID`, naming the option, the value and the bound
 */
export function leaderPlan(
  name: string,
  defaults: LockOptions,
  options: LeaderOptions = {},
  wakes: Traits['wakes'] = 'never',
): LeaderPlan {
  checkNames(options, NAMES, 'the options of leader()');
  const {
    ttl = defaults.ttl,
    delay = defaults.delay,
    notice = defaults.notice,
    label = defaults.label ?? DEFAULT_LABEL,
    pause,
    settle = SETTLE,
    autoCampaign = true,
    onError = warning(name),
  } = options;
  if (typeof autoCampaign !== 'boolean')
    throw invalid(`autoCampaign is ${shown(autoCampaign)}; it must be true or false`, name);
  if (typeof onError !== 'function') throw invalid(`onError is ${shown(onError)}; it must be a function`, name);
  return {
    lock: { ttl, delay, notice, label, spin: candidateSpin(defaults.spin, wakes), ...UNSHARED_HOLD },
    label,
    pause: pause === undefined ? PAUSE : spin({ ...PAUSE, ...pause }),
    settle: milliseconds(settle, 'settle'),
    autoCampaign,
    onError,
  };
}

const warning = (name: string) => (error: unknown) => {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.emitWarning(`the function of leader ${shown(name)} failed: ${message}`, 'HoldfastLeaderWarning');
};

/** Where nobody is woken, the bound is how late a candidate may notice that the leader is gone: it stays as it is. */
const candidateSpin = (spin: LockOptions['spin'], wakes: Traits['wakes']): LockOptions['spin'] =>
  wakes === 'never' ? spin : { bound: SIGN_OF_LIFE, ...spin };
