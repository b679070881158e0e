import { LockError, quoted, reasonOf } from '../core/contract/errors.ts';
import type { MemoPlan } from './options.ts';
import { unreadable } from './words.ts';

/** A value as text. @throws what `encode` throws; TypeError where it gives no text that every engine can keep */
export function encoded<T>({ encode }: Pick<MemoPlan<T>, 'encode'>, value: T): string {
  const text: unknown = encode(value);
  if (typeof text === 'string' && text.isWellFormed()) return text;
  throw new TypeError('encode() gave no well-formed text');
}

/** The error for a value that cannot be kept. */
export const unkeepable = (key: string, cause: unknown): LockError =>
  new LockError('LOCK_INVALID', `the result of ${quoted(key)} cannot be kept: ${reasonOf(cause)}`, { key, cause });

/** The value of such a text. @throws LockError `LOCK_INVALID` */
export function decoded<T>({ key, decode }: Pick<MemoPlan<T>, 'key' | 'decode'>, body: string): T {
  try {
    return decode(body);
  } catch (cause) {
    throw unreadable(key, 'decode()', cause);
  }
}
