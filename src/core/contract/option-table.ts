import { hostname } from 'node:os';
import { type Bounds, MAX_DURATION_MS, milliseconds, waitIn } from './duration.ts';
import { invalid, shown } from './errors.ts';
import {
  type Adaptive,
  abortSignal,
  checkKey,
  checkNames,
  flag,
  type HandOff,
  type LockOptions,
  namesOf,
  type OptionNames,
  oneOf,
  type Spin,
  whole,
} from './options.ts';
import { checkDelay, leaseBounds, leaseLength, lengthsFor, type Terms } from './terms.ts';
import type { Traits } from './traits.ts';

// All terms share these objects, so that no waiter has its own copy.
const NO_HAND_OFF: Terms['handOff'] = { max: 0, within: 0, linger: 0 };
const HAND_OFF: Terms['handOff'] = { max: 64, within: 10, linger: 0 };
/** The most hand-overs of a hold; the engine reserves a token for each. Default with `linger`: else it goes back to the engine every millisecond. */
const MAX_PASSES = 1_023;
const SPIN: Terms['spin'] = { pause: 10, jitter: 0.5, bound: 1_000 };
/** The default lease, ms. The bounds of an engine may change it. */
export const DEFAULT_TTL_MS = 30_000;
/** The wait of a call without the option `wait`, ms. The caller may have forgotten the option, and must not hang for ever. */
export const DEFAULT_WAIT_MS = 30_000;
/** A host name may be longer than a label. */
export const DEFAULT_LABEL = `${hostname().slice(0, 100)}:${process.pid}`;

const ADAPTIVE_NAMES = namesOf<Adaptive>({ group: true, cap: true });
const HAND_OFF_NAMES = namesOf<HandOff>({ max: true, within: true, linger: true });
const SPIN_NAMES = namesOf<Spin>({ pause: true, jitter: true, bound: true });

/** The facts that the check of an option may need besides the options. */
interface Setting {
  readonly traits: Traits;
  /** The bounds of the lease, ms. */
  readonly bounds: Bounds;
  readonly delay: number;
  readonly ttl: number;
}

/** A feature that also takes some options of a lock. `run` is the command `holdfast run`. */
type Taker = 'leader' | 'once' | 'run';

interface Option<N extends keyof LockOptions> {
  /** Checks the value that was given, or gives the default. */
  readonly resolve: (given: LockOptions, setting: Setting) => Terms[N];
  /** Gives what an engine can see of the option. Of two requests that look the same to it, one may take over the claim or hold of the other. */
  readonly seen: ((terms: Terms) => unknown) | undefined;
  readonly takers?: readonly Taker[];
}

/** An engine sees nothing of this option. */
const UNSEEN = undefined;

/** Every option of a lock. A new one needs its row here, its docstring in `LockOptions`, its field in `Terms`, and code that uses it. */
export const OPTIONS = {
  wait: { resolve: ({ wait = DEFAULT_WAIT_MS }) => waitIn(wait), seen: ({ wait }) => wait > 0, takers: ['run'] },
  ttl: { resolve: (_, { ttl }) => ttl, seen: leaseLength, takers: ['leader', 'once', 'run'] },
  renew: { resolve: renews, seen: UNSEEN },
  maxHold: {
    resolve: ({ maxHold }) =>
      maxHold === undefined
        ? Number.POSITIVE_INFINITY
        : milliseconds(maxHold, 'maxHold', { min: 1, max: MAX_DURATION_MS }),
    seen: UNSEEN,
  },
  minHold: {
    resolve: ({ minHold = 0 }, { bounds }) => milliseconds(minHold, 'minHold', { min: 0, max: bounds.max }),
    seen: ({ minHold }) => minHold > 0,
    takers: ['run'],
  },
  delay: { resolve: (_, { delay }) => delay, seen: ({ delay }) => delay, takers: ['leader', 'run'] },
  notice: {
    resolve: ({ notice }, { ttl }) =>
      milliseconds(notice ?? Math.floor(ttl / 10), 'notice', { min: 0, max: Math.floor((ttl * 2) / 3) }),
    seen: UNSEEN,
    takers: ['leader', 'once'],
  },
  adaptive: { resolve: ({ adaptive }, { ttl, bounds }) => adaptation(adaptive, ttl, bounds.max), seen: UNSEEN },
  spin: { resolve: (given, { traits }) => spin(given.spin, traits.spin), seen: ({ spin }) => spin.bound },
  signal: { resolve: ({ signal }) => abortSignal(signal), seen: UNSEEN, takers: ['once'] },
  label: { resolve: ({ label = DEFAULT_LABEL }) => checkLabel(label), seen: UNSEEN, takers: ['leader', 'once'] },
  awaitRelease: { resolve: ({ awaitRelease = true }) => flag(awaitRelease, 'awaitRelease'), seen: UNSEEN },
  handOff: {
    resolve: (given, { traits }) => (traits.tokenBlocks ? handOff(given.handOff) : NO_HAND_OFF),
    seen: UNSEEN,
  },
  reentrant: { resolve: ({ reentrant = true }) => flag(reentrant, 'reentrant'), seen: UNSEEN },
  onLoss: { resolve: ({ onLoss = 'tell' }) => oneOf(onLoss, ['tell', 'throw'], 'onLoss'), seen: UNSEEN },
  detect: { resolve: ({ detect = false }) => flag(detect, 'detect'), seen: UNSEEN },
} as const satisfies { readonly [N in keyof Required<LockOptions>]: Option<N> };

type Name = keyof typeof OPTIONS;
const ROWS = Object.entries(OPTIONS) as readonly [Name, Option<Name>][];

/** The names of all options of a lock. */
export const LOCK_OPTIONS = new Set(Object.keys(OPTIONS)) as Set<string> & OptionNames;

/** The names of those options of a lock that `T` takes, too. */
export type SharedOption<T extends Taker> = {
  [N in Name]: (typeof OPTIONS)[N] extends { readonly takers: infer L extends readonly Taker[] }
    ? T extends L[number]
      ? N
      : never
    : never;
}[Name];

/** Gives the names in `SharedOption`, in the form that `namesOf` takes. */
export const sharedWith = <T extends Taker>(taker: T): Record<SharedOption<T>, true> => {
  const names = ROWS.flatMap(([name, { takers }]) => (takers?.includes(taker) ? [[name, true] as const] : []));
  return Object.fromEntries(names) as Record<SharedOption<T>, true>;
};

const SEEN = ROWS.flatMap(([, { seen }]) => seen ?? []);

/** Whether an engine would see no difference between two requests for the same units. */
export const sameForEngine = (some: Terms, others: Terms): boolean => SEEN.every((seen) => seen(some) === seen(others));

/**
 * The options of a hold that only one caller uses. The hold does not pass from hand to hand: it would keep the label of its first holder, and
 * listings would name the wrong holder. And no caller may re-enter it.
 */
export const UNSHARED_HOLD = { handOff: false, reentrant: false } as const satisfies LockOptions;

/** Options in layers: the layer nearest to the call wins. The options are checked when a layer is added, and not at each call. */
export class LayeredOptions {
  readonly terms: Terms;
  readonly #traits: Traits;
  readonly given: LockOptions;

  /** @throws LockError `LOCK_INVALID`, naming the option, the value and the bound. */
  constructor(traits: Traits, given: LockOptions) {
    this.#traits = traits;
    this.given = given;
    this.terms = resolve(traits, given);
  }

  /** Adds a nearer layer. It throws as the constructor does. */
  with(nearer: LockOptions | undefined): LayeredOptions {
    if (nearer === undefined) return this;
    checkNames(nearer, LOCK_OPTIONS, 'lock options');
    return new LayeredOptions(this.#traits, { ...this.given, ...withoutUndefined(nearer) });
  }
}

function resolve(traits: Traits, given: LockOptions): Terms {
  const delay = checkDelay(given.delay ?? 0, traits);
  const bounds = leaseBounds(traits, delay);
  const standard = Math.min(Math.max(DEFAULT_TTL_MS, bounds.min), bounds.max);
  const setting = { traits, bounds, delay, ttl: milliseconds(given.ttl ?? standard, 'ttl', bounds) };
  const terms: Partial<Record<Name, unknown>> = {};
  for (const [name, option] of ROWS) terms[name] = option.resolve(given, setting);
  const resolved = terms as Record<Name, unknown> as unknown as Omit<Terms, 'lengths' | 'isDefaultWait'>;
  return { ...resolved, isDefaultWait: given.wait === undefined, lengths: lengthsFor(resolved, traits) };
}

const withoutUndefined = (layer: LockOptions): LockOptions =>
  Object.fromEntries(Object.entries(layer).filter(([, value]) => value !== undefined));

function renews({ renew, adaptive }: LockOptions): boolean {
  if (renew === true && adaptive) throw invalid('adaptive is for leases that are not renewed: leave renew out');
  return flag(renew ?? !adaptive, 'renew');
}

function adaptation(given: Adaptive | undefined, ttl: number, max: number): Terms['adaptive'] {
  if (given === undefined) return undefined;
  checkNames(given, ADAPTIVE_NAMES, 'adaptive options');
  const cap = milliseconds(given.cap, 'adaptive.cap', { min: ttl, max });
  return { group: given.group === undefined ? undefined : checkKey(given.group, 'group'), cap };
}

function checkLabel(value: unknown): string {
  if (typeof value === 'string' && value.length <= 128 && value.isWellFormed()) return value;
  throw invalid(`label is ${shown(value)}; it must be well-formed text of at most 128 characters`);
}

function handOff(given: false | HandOff | undefined): Terms['handOff'] {
  if (given === undefined) return HAND_OFF;
  if (given === false) return NO_HAND_OFF;
  checkNames(given, HAND_OFF_NAMES, 'handOff options');
  const linger = milliseconds(given.linger ?? 0, 'handOff.linger', { min: 0, max: 1_000 });
  return {
    max: whole(given.max ?? (linger > 0 ? MAX_PASSES : HAND_OFF.max), 'handOff.max', 1, MAX_PASSES),
    within: milliseconds(given.within ?? HAND_OFF.within, 'handOff.within'),
    linger,
  };
}

/** Checks the pauses between attempts, and fills in their defaults. */
export function spin(given: Spin | undefined, own?: Traits['spin']): Terms['spin'] {
  const usual = own ? { ...SPIN, ...own } : SPIN;
  if (given === undefined) return usual;
  checkNames(given, SPIN_NAMES, 'spin options');
  const pause = milliseconds(given.pause ?? usual.pause, 'spin.pause', { min: 1, max: 60_000 });
  const bound = milliseconds(given.bound ?? Math.max(usual.bound, pause), 'spin.bound', { min: pause, max: 60_000 });
  const jitter = given.jitter ?? usual.jitter;
  if (!(typeof jitter === 'number' && jitter >= 0 && jitter <= 1))
    throw invalid(`spin.jitter is ${shown(jitter)}; it must be from 0 to 1`);
  return { pause, bound, jitter };
}
