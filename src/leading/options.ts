import {
  checkNames,
  DEFAULT_LABEL,
  type Duration,
  flag,
  invalid,
  type LockOptions,
  milliseconds,
  namesOf,
  type Spin,
  sharedWith,
  shown,
  spin,
  type Traits,
  UNSHARED_HOLD,
} from '../core/index.ts';

/** Options that all candidates and observers of an election should share. */
export interface LeaderOptions {
  /** The lease: how long a dead leader keeps others out. Default 30 s; the engine sets the bounds. */
  readonly ttl?: Duration | undefined;
  /** How long nobody leads after a term that expired without a release: 0 to 60 s. Default 0. Give observers the same value. */
  readonly delay?: Duration | undefined;
  /** How long before the deadline the leader learns that its term is lost. Default a tenth of `ttl`; at most two thirds of it. */
  readonly notice?: Duration | undefined;
  /** A name for observers, an address for example. Default `host:pid`. At most 128 characters. */
  readonly label?: string | undefined;
  /** The pause before the next campaign. It doubles while terms are shorter than `bound`. Default from 100 ms to 30 s, half of it random. */
  readonly pause?: Spin | undefined;
  /** How long after the end of a term a function that has not settled is reported as overdue. Default 10 s. */
  readonly settle?: Duration | undefined;
  /** Campaign again after a term. Default true; with false `run` leads one term, and throws the error of its function. */
  readonly autoCampaign?: boolean | undefined;
  /** Gets the error of a function that failed, after its term. Default: a warning of the process. Not called with `autoCampaign: false`. */
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

const NAMES = namesOf<LeaderOptions>({
  ...sharedWith('leader'),
  pause: true,
  settle: true,
  autoCampaign: true,
  onError: true,
});
const DEFAULT_PAUSE_MS = { pause: 100, jitter: 0.5, bound: 30_000 };
const DEFAULT_SETTLE_MS = 10_000;
/** How often a candidate renews its place in the queue, ms, if the engine notifies waiters. Most candidates wait as long as their process lives. */
const SIGN_OF_LIFE_MS = 8_000;

/**
 * @throws LockError `LOCK_INVALID`, naming the option, the value and the bound
 * @param defaults those of the `Locks`; defaults for single locks have no effect
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
    settle = DEFAULT_SETTLE_MS,
    autoCampaign = true,
    onError = warning(name),
  } = options;
  if (typeof onError !== 'function') throw invalid(`onError is ${shown(onError)}; it must be a function`, name);
  return {
    lock: { wait: 'forever', ttl, delay, notice, label, spin: candidateSpin(defaults.spin, wakes), ...UNSHARED_HOLD },
    label,
    pause: pause === undefined ? DEFAULT_PAUSE_MS : spin({ ...DEFAULT_PAUSE_MS, ...pause }),
    settle: milliseconds(settle, 'settle'),
    autoCampaign: flag(autoCampaign, 'autoCampaign', name),
    onError,
  };
}

const warning = (name: string) => (error: unknown) => {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.emitWarning(`the function of leader ${shown(name)} failed: ${message}`, 'HoldfastLeaderWarning');
};

/** Without wake-ups the bound of `spin` decides how late a candidate notices that the leader is gone, so the bound stays as it is. */
const candidateSpin = (spin: LockOptions['spin'], wakes: Traits['wakes']): LockOptions['spin'] =>
  wakes === 'never' ? spin : { bound: SIGN_OF_LIFE_MS, ...spin };
