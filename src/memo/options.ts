import {
  checkNames,
  type Duration,
  type Engine,
  invalid,
  LayeredOptions,
  LONGEST,
  type LockOptions,
  milliseconds,
  namesOf,
  quoted,
  shown,
  type Terms,
  UNSHARED_HOLD,
  unsupported,
  whole,
} from '../core/index.ts';
import { fromText, given, toText } from './encoding.ts';
import { fingerprint } from './match.ts';

/**
 * Makes text unreadable for others, and readable again. Both functions give text, and no promise.
 * @example
 * const seal = {
 *   seal: (text: string) => Buffer.from(text).toString('base64'), // put a cipher here
 *   open: (sealed: string) => Buffer.from(sealed, 'base64').toString(),
 * };
 * seal.open(seal.seal('a result')) === 'a result';
 */
export interface Seal {
  /** What is stored instead of the text. */
  seal(text: string): string;
  /** The text again; throws for what it did not seal. */
  open(sealed: string): string;
}

/** Options of a memo. All callers of a key should give the same. */
export interface MemoOptions<T = unknown> {
  /** How long a result counts, by the engine's clock, up to a year. Default 0: only for those who wait when it comes. */
  readonly keep?: Duration | undefined;
  /**
   * What the request is, as data. A caller with another one gets `LOCK_MISMATCH`, also while the first is running. Its SHA-256 is kept.
   * `undefined`, also inside of it, is `LOCK_INVALID`. Default: nobody asks which request it is.
   */
  readonly match?: unknown;
  /** Begun so often without a result, deaths included, it rests: all get the old result, or `LOCK_POISONED`. Default: no limit. */
  readonly attempts?: number | undefined;
  /** How long it rests then. Default 1 hour. */
  readonly rest?: Duration | undefined;
  /** How long an error is kept for all others, or false: the next in line runs. Default: no error is kept. */
  readonly keepError?: ((error: unknown) => Duration | false) | undefined;
  /** When the result is older than this, one caller makes a new one, and all others get the old one at once. Less than `keep`. Default: never. */
  readonly refresh?: Duration | undefined;
  /** The value as text. Default: JSON that keeps dates, bigints, `undefined`, maps, sets, typed arrays and errors, too. */
  readonly encode?: ((value: T) => string) | undefined;
  /** The value of such a text, for the runner, too. Default: as `encode` by default. */
  readonly decode?: ((text: string) => T) | undefined;
  /** For results that are secrets: what is stored is sealed. */
  readonly seal?: Seal | undefined;
  /** How long to wait for a result, unless a call says otherwise; 0: not at all. Default: no limit. */
  readonly wait?: Duration | undefined;
  /** The lease of a run: so long after its death another one begins. Default 30 s; the engine sets the bounds. */
  readonly ttl?: Duration | undefined;
  /** How long before the deadline of the lease a run learns of its loss. Default a tenth of `ttl`; at most two thirds of it. */
  readonly notice?: Duration | undefined;
  /** How long a run is renewed at most: after that it loses its lease, and another one begins. Default: no limit. */
  readonly maxHold?: Duration | undefined;
  /** Give up with `LOCK_DEADLOCK` when the wait can never end, as that of a lock does. Default false. */
  readonly detect?: boolean | undefined;
  /** For people: who this is. Default `host:pid`. */
  readonly label?: string | undefined;
}

/** Every option there is, by name. */
export const MEMO_OPTIONS = namesOf<MemoOptions>({
  keep: true,
  match: true,
  attempts: true,
  rest: true,
  keepError: true,
  refresh: true,
  encode: true,
  decode: true,
  seal: true,
  wait: true,
  ttl: true,
  notice: true,
  maxHold: true,
  detect: true,
  label: true,
});

/** Options after checking, every duration in ms. */
export interface MemoPlan<T = unknown> {
  readonly key: string;
  /** The name of the engine. */
  readonly backend: string;
  readonly keep: number;
  /** The fingerprint of the request, or `NO_MARK`. */
  readonly match: string;
  readonly attempts: number;
  readonly rest: number;
  readonly keepError: (error: unknown) => number | false;
  readonly refresh: number;
  readonly encode: (value: T) => string;
  readonly decode: (text: string) => T;
  readonly seal: Seal | undefined;
  readonly terms: Terms;
}

const DEFAULT_REST_MS = 3_600_000;

/** @throws LockError `LOCK_INVALID`; `LOCK_UNSUPPORTED` where no value can be stored under a key */
export function memoPlan<T>(
  { backend }: Engine,
  key: string,
  defaults: LockOptions,
  options: MemoOptions<T> = {},
): MemoPlan<T> {
  checkNames(options, MEMO_OPTIONS, 'the options of memo()');
  if (!backend.traits.values) throw unsupported(backend, 'keep a result under a key');
  const { attempts, refresh, seal, encode = toText, decode = fromText as (text: string) => T } = options;
  const keep = milliseconds(options.keep ?? 0, 'keep');
  if (refresh !== undefined && keep === 0) throw invalid('refresh is for results that are kept: give keep, too', key);
  for (const [name, fn] of Object.entries({ encode, decode, keepError: options.keepError ?? encode }))
    if (typeof fn !== 'function') throw invalid(`${name} is ${shown(fn)}; it must be a function`, key);
  if (seal !== undefined && (typeof seal.seal !== 'function' || typeof seal.open !== 'function'))
    throw invalid(`seal is ${shown(seal)}; it must have the functions seal and open`, key);
  const lock = {
    ...UNSHARED_HOLD,
    ttl: options.ttl ?? defaults.ttl,
    wait: options.wait ?? defaults.wait,
    label: options.label ?? defaults.label,
    notice: options.notice ?? defaults.notice,
    maxHold: options.maxHold ?? defaults.maxHold,
    detect: options.detect ?? defaults.detect,
    spin: defaults.spin,
  };
  return {
    key,
    backend: backend.name,
    keep,
    match: fingerprint(options, key),
    attempts: attempts === undefined ? Number.POSITIVE_INFINITY : whole(attempts, 'attempts', 1, 1_000_000),
    rest: milliseconds(options.rest ?? DEFAULT_REST_MS, 'rest', { min: 1, max: LONGEST }),
    keepError: kept(options.keepError, key),
    refresh: refresh === undefined ? Number.POSITIVE_INFINITY : milliseconds(refresh, 'refresh', { min: 1, max: keep }),
    encode,
    decode,
    seal,
    terms: new LayeredOptions(backend.traits, lock).terms,
  };
}

const kept =
  (keepError: MemoOptions['keepError'], key: string): MemoPlan['keepError'] =>
  (error) => {
    try {
      const keep = given('keepError()', () => keepError?.(error) ?? false);
      return keep === false ? false : milliseconds(keep, 'the answer of keepError()', { min: 1, max: LONGEST });
    } catch (refused) {
      throw invalid(`${quoted(key)} failed, and ${(refused as Error).message}`, key);
    }
  };
