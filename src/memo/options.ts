import {
  checkNames,
  type Engine,
  invalid,
  LayeredOptions,
  type LockOptions,
  MAX_DURATION_MS,
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
import type { MemoOptions, Seal } from './memo.ts';

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

/** @throws LockError `LOCK_INVALID`; `LOCK_UNSUPPORTED` if the engine can store no value under a key */
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
    wait: options.wait ?? defaults.wait ?? 'forever',
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
    rest: milliseconds(options.rest ?? DEFAULT_REST_MS, 'rest', { min: 1, max: MAX_DURATION_MS }),
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
      return keep === false ? false : milliseconds(keep, 'the answer of keepError()', { min: 1, max: MAX_DURATION_MS });
    } catch (refused) {
      throw invalid(`${quoted(key)} failed, and ${(refused as Error).message}`, key);
    }
  };
