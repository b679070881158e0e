import { invalid, shown } from './errors.ts';

/** The longest key, in bytes of UTF-8. Every engine takes this much, encoded as it needs. */
export const MAX_KEY_BYTES = 512;

/**
 * Checks a key, which may be any well-formed Unicode. Each backend encodes keys so that different ones never collide.
 * @throws LockError `LOCK_INVALID`.
 */
export function checkKey(key: unknown, name = 'key'): string {
  if (typeof key !== 'string') throw invalid(`a ${name} must be a string, not ${shown(key)}`);
  if (key === '') throw invalid(`a ${name} must not be empty`);
  // A UTF-16 unit takes at most three bytes, so short keys, which nearly all are, need no counting.
  if (key.length * 3 > MAX_KEY_BYTES && Buffer.byteLength(key) > MAX_KEY_BYTES) {
    throw invalid(
      `the ${name} ${shown(key)} has ${Buffer.byteLength(key)} bytes; at most ${MAX_KEY_BYTES} are allowed`,
    );
  }
  // A lone surrogate has no UTF-8 form: two such keys would become one on the wire.
  if (!key.isWellFormed()) throw invalid(`the ${name} ${shown(key)} is not well-formed Unicode`);
  return key;
}

/** Checks a prefix that the operator chose: it is short and plain, and offers no way out of the engine's namespace. */
export function checkPrefix(prefix: unknown, form: RegExp = /^[A-Za-z0-9_.:-]{1,64}$/): string {
  if (typeof prefix !== 'string' || !form.test(prefix)) {
    throw invalid(`prefix is ${shown(prefix)}; it must match ${form.source}`);
  }
  return prefix;
}
