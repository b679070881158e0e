import { hostname } from 'node:os';
import { abortSignal } from './abort-signal.ts';
import type { Backend } from './backend.ts';
import { type Duration, LONGEST, milliseconds } from './duration.ts';
import { invalid, shown } from './errors.ts';
import { checkKey } from './key.ts';
import { checkDelay, leaseBounds, type Terms } from './terms.ts';
import type { Traits } from './traits.ts';

/** How to take a lock. Given per call, per lock, or for all as `createLocks(backend, defaults)`; the nearest wins. Undefined is not given; null is refused. */
export interface LockOptions {
  /** How long to wait for the lock; 0 is one attempt. Default: no limit. */
  readonly wait?: Duration | undefined;
  /** Lease: how long the hold lives without a renewal. Default 30 s; bounds are the engine's, and 3 ms. */
  readonly ttl?: Duration | undefined;
  /** Renew every third of `ttl` while it is held. Default true; false with `adaptive`. */
  readonly renew?: boolean | undefined;
  /** Stop renewing after this long, so that work that hangs does not hold for ever. Default: no limit. */
  readonly maxHold?: Duration | undefined;
  /** The key stays taken at least this long after the grant, even if released earlier. Default 0. */
  readonly minHold?: Duration | undefined;
  /**
   * After a hold that lapsed, and was not released, the key stays taken for so long: for what cannot check a token. 0 to 60 s, and
   * no more than the engine's longest lease less `ttl`. Default 0.
   */
  readonly delay?: Duration | undefined;
  /** How long before the deadline the loss signal fires. Default a tenth of `ttl`; less than two thirds of it. */
  readonly notice?: Duration | undefined;
  /** Without renewal: lengthen the next lease when the work of the last holders came close to theirs. */
  readonly adaptive?: Adaptive | undefined;
  /** How to ask again where an engine wakes nobody. */
  readonly spin?: Spin | undefined;
  /**
   * Whether `run` and the end of a block with `await using` wait until the engine has answered the release. Default true. False: it is sent
   * in the same turn, and `close()` waits for it. Until it arrives, others find the lock taken. After 256 under way the next is waited for.
   */
  readonly awaitRelease?: boolean | undefined;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** For people: who this is, in listings. Default `host:pid`. At most 128 characters. */
  readonly label?: string | undefined;
  /** How long an exclusive hold may pass from hand to hand inside this process. Default at most 64 times and 10 ms. */
  readonly handOff?: false | HandOff | undefined;
  /**
   * Whether it is entered again inside `run`, by what runs in its async context. Default true. False for work that is done for many
   * callers in the context of one, such as a batch's or a pool's: it waits in line as a stranger's would. If what holds the lock
   * waits for that work in turn, both wait until `wait` is over.
   */
  readonly reentrant?: boolean | undefined;
  /**
   * Look whether the wait is part of a deadlock, from 1 s on, if it is inside of another hold; the last one of those in it that asked to be told
   * gives up, with `LOCK_DEADLOCK`. Default false. Not where waiters cannot be listed.
   */
  readonly detect?: boolean | undefined;
}

/** How long an exclusive hold may pass from hand to hand inside the process before others get their turn. */
export interface HandOff {
  /** Times a hold may pass on before it goes back to the engine: 1 to 1,023. Default 64. */
  readonly max?: number;
  /** Time after its grant in which it may pass on. Default 10 ms. */
  readonly within?: Duration;
  /**
   * For how long a hold that nobody here waits for is kept for the next caller of this process after its release, within `within`. Other
   * processes wait that long at most; a hold that was waited for in the engine's line is not kept. Default 0; up to 1 s.
   */
  readonly linger?: Duration;
}

/** Leases without renewal that learn how long the work takes. */
export interface Adaptive {
  /** Whose durations are learnt together: 1 to 512 bytes. Default the key; in `@Locked` its template. */
  readonly group?: string;
  /** The longest lease that may come of it, at least `ttl`. */
  readonly cap: Duration;
}

/** The pauses between attempts. */
export interface Spin {
  /** First pause between two attempts; it doubles with each. Default 10 ms. */
  readonly pause?: Duration;
  /** Part of each pause that is random, 0 to 1. Default 0.5. */
  readonly jitter?: number;
  /**
   * Longest pause. Default 1 s. Where the engine wakes waiters, how often one asks beside that, from 2 s on, if the engine allows
   * more than that: it costs less, and a waiter that died in line, or a wake-up that was lost, is noticed later.
   */
  readonly bound?: Duration;
}

/**
 * For a request that is its caller's alone. A hold that passes from hand to hand would keep the label of whoever had it first, so that
 * others would name the wrong one; and it must not be entered again from inside.
 */
export const UNSHARED_HOLD = { handOff: false, reentrant: false } as const satisfies LockOptions;

// Shared, so that a waiter does not carry its own.
const NO_HAND_OFF: Terms['handOff'] = { max: 0, within: 0, linger: 0 };
const HAND_OFF: Terms['handOff'] = { max: 64, within: 10, linger: 0 };
const SPIN: Terms['spin'] = { pause: 10, jitter: 0.5, bound: 1_000 };
const DEFAULT_TTL = 30_000;
export const DEFAULT_LABEL = `${hostname()}:${process.pid}`;

/** The names of all options in `T`. The compiler refuses a list that lacks one, or has one that `T` has not. */
export const namesOf = <T>(names: Record<keyof T, true>): ReadonlySet<string> => new Set(Object.keys(names));

/** Every option there is, by name. */
export const LOCK_OPTIONS = namesOf<LockOptions>({
  wait: true,
  ttl: true,
  renew: true,
  maxHold: true,
  minHold: true,
  delay: true,
  notice: true,
  adaptive: true,
  spin: true,
  awaitRelease: true,
  signal: true,
  label: true,
  handOff: true,
  reentrant: true,
  detect: true,
});

/** @throws LockError `LOCK_INVALID` when what `taker` was given is none */
export function checkBackend(backend: Backend, taker: string): Backend {
  if (typeof backend?.attempt === 'function') return backend;
  throw invalid(`${taker} was given ${shown(backend)}, not a backend; make one with memory(), redis(client)…`);
}

/**
 * Refuses what is not an option, so that a misspelt one is not silently ignored; and `null`, so that a value which is missing by
 * mistake is not taken for the default.
 */
export function checkNames(given: unknown, names: ReadonlySet<string>, what: string): void {
  if (given === undefined) return;
  if (typeof given !== 'object' || given === null) throw invalid(`${what} must be an object, not ${shown(given)}`);
  for (const [name, value] of Object.entries(given)) {
    if (!names.has(name)) throw invalid(`${shown(name)} is not one of ${what}; there are ${[...names].join(', ')}`);
    if (value === null) throw invalid(`${name} is null; give a value or leave it out (it is one of ${what})`);
  }
}

/** As `checkNames`, of options without which there is nothing to begin with. */
export function checkGiven(given: unknown, names: ReadonlySet<string>, what: string): void {
  if (given === undefined) throw invalid(`${what} are missing; there are ${[...names].join(', ')}`);
  checkNames(given, names, what);
}

/** Options in layers, the nearest strongest. They are checked once, when a layer is added, and not at each call. */
export class LayeredOptions {
  readonly terms: Terms;
  readonly #traits: Traits;
  readonly #given: LockOptions;

  /** @throws LockError `LOCK_INVALID`, naming the option, the value and the bound. */
  constructor(traits: Traits, given: LockOptions) {
    this.#traits = traits;
    this.#given = given;
    this.terms = resolve(traits, given);
  }

  /** As the constructor throws. */
  with(nearer: LockOptions | undefined): LayeredOptions {
    if (nearer === undefined) return this;
    checkNames(nearer, LOCK_OPTIONS, 'lock options');
    return new LayeredOptions(this.#traits, { ...this.#given, ...defined(nearer) });
  }
}

function resolve(traits: Traits, given: LockOptions): Terms {
  const delay = checkDelay(given.delay ?? 0, traits);
  const bounds = leaseBounds(traits, delay);
  const ttl = milliseconds(given.ttl ?? Math.min(Math.max(DEFAULT_TTL, bounds.min), bounds.max), 'ttl', bounds);
  const minHold = milliseconds(given.minHold ?? 0, 'minHold', { min: 0, max: bounds.max });
  return {
    wait:
      given.wait === undefined || given.wait === Number.POSITIVE_INFINITY ? Infinity : milliseconds(given.wait, 'wait'),
    ttl,
    renew: renews(given),
    maxHold: given.maxHold === undefined ? Infinity : milliseconds(given.maxHold, 'maxHold', { min: 1, max: LONGEST }),
    minHold,
    delay,
    notice: milliseconds(given.notice ?? Math.floor(ttl / 10), 'notice', { min: 0, max: Math.floor((ttl * 2) / 3) }),
    adaptive: adaptive(given.adaptive, ttl, bounds.max),
    spin: spin(given.spin, traits.spin && { ...SPIN, ...traits.spin }),
    awaitRelease: flag(given.awaitRelease ?? true, 'awaitRelease'),
    signal: abortSignal(given.signal),
    label: label(given.label ?? DEFAULT_LABEL),
    handOff: traits.spans ? handOff(given.handOff) : NO_HAND_OFF,
    reentrant: flag(given.reentrant ?? true, 'reentrant'),
    detect: flag(given.detect ?? false, 'detect'),
  };
}

const defined = (layer: LockOptions): LockOptions =>
  Object.fromEntries(Object.entries(layer).filter(([, value]) => value !== undefined));

/** @throws LockError `LOCK_INVALID`, unless `value` is one. */
export function flag(value: unknown, name: string, key?: string): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid(`${name} is ${shown(value)}; it must be true or false`, key);
}

function renews({ renew, adaptive }: LockOptions): boolean {
  if (renew === true && adaptive) throw invalid('adaptive is for leases that are not renewed: leave renew out');
  return flag(renew ?? !adaptive, 'renew');
}

function adaptive(given: Adaptive | undefined, ttl: number, max: number): Terms['adaptive'] {
  if (given === undefined) return undefined;
  checkNames(given, new Set(['group', 'cap']), 'adaptive options');
  const cap = milliseconds(given.cap, 'adaptive.cap', { min: ttl, max });
  return { group: given.group === undefined ? undefined : checkKey(given.group, 'group'), cap };
}

function label(value: unknown): string {
  if (typeof value === 'string' && value.length <= 128 && value.isWellFormed()) return value;
  throw invalid(`label is ${shown(value)}; it must be well-formed text of at most 128 characters`);
}

/** @throws LockError `LOCK_INVALID`, unless `value` is a whole number within the bounds. */
export function whole(value: unknown, name: string, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  throw invalid(`${name} is ${shown(value)}; it must be a whole number from ${min} to ${max}`);
}

function handOff(given: false | HandOff | undefined): Terms['handOff'] {
  if (given === undefined) return HAND_OFF;
  if (given === false) return NO_HAND_OFF;
  checkNames(given, new Set(['max', 'within', 'linger']), 'handOff options');
  return {
    max: whole(given.max ?? HAND_OFF.max, 'handOff.max', 1, 1_023),
    within: milliseconds(given.within ?? HAND_OFF.within, 'handOff.within'),
    linger: milliseconds(given.linger ?? 0, 'handOff.linger', { min: 0, max: 1_000 }),
  };
}

/** Checks them and fills in the defaults. */
export function spin(given: Spin | undefined, usual: Terms['spin'] = SPIN): Terms['spin'] {
  if (given === undefined) return usual;
  checkNames(given, new Set(['pause', 'jitter', 'bound']), 'spin options');
  const pause = milliseconds(given.pause ?? usual.pause, 'spin.pause', { min: 1, max: 60_000 });
  const bound = milliseconds(given.bound ?? Math.max(usual.bound, pause), 'spin.bound', { min: pause, max: 60_000 });
  const jitter = given.jitter ?? usual.jitter;
  if (!(typeof jitter === 'number' && jitter >= 0 && jitter <= 1))
    throw invalid(`spin.jitter is ${shown(jitter)}; it must be from 0 to 1`);
  return { pause, bound, jitter };
}
