import {
  type Clock,
  checkNames,
  checkPrefix,
  invalid,
  namesOf,
  type RegisterStore,
  shown,
  systemClock,
} from '../../core/index.ts';

/** Options of `register`, and of the engines over it. */
export interface RegisterOptions {
  /** What all keys in the store begin with. Default `holdfast`. */
  readonly prefix?: string | undefined;
  /** Time and randomness. Default: the machine's. */
  readonly clock?: Clock | undefined;
}

const KNOWN = namesOf<RegisterOptions>({ prefix: true, clock: true });
const FORM = /^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/;

/** @throws LockError `LOCK_INVALID` */
export function resolveRegisterOptions(options: RegisterOptions, maker: string): { prefix: string; clock: Clock } {
  checkNames(options, KNOWN, `options of ${maker}()`);
  const { prefix = 'holdfast', clock = systemClock } = options;
  checkPrefix(prefix, FORM);
  if (prefix.length > 64) throw invalid(`prefix is ${shown(prefix)}; it may have 64 characters`);
  return { prefix, clock };
}

/** @throws LockError `LOCK_INVALID` */
export function checkStore(store: RegisterStore): void {
  const { name, read, write } = store ?? {};
  if (typeof name === 'string' && typeof read === 'function' && typeof write === 'function') return;
  throw invalid('register() needs a store: { name, read(key), write(key, text, ifVersion) }');
}
