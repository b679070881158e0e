import { invalid, type LockError, quoted } from '../core/index.ts';
import { type Refused, toText } from './encoding.ts';
import { given, textGiven } from './given.ts';
import type { MemoPlan } from './options.ts';

/** A value as text. @throws Refused */
export const encoded = <T>({ encode }: Pick<MemoPlan<T>, 'encode'>, value: T): string =>
  textGiven(encode === toText ? 'a part of it' : 'encode()', () => encode(value));

/** The value of such a text. @throws LockError `LOCK_INVALID` */
export function decoded<T>({ key, decode }: Pick<MemoPlan<T>, 'key' | 'decode'>, body: string): T {
  try {
    return given('decode()', () => decode(body));
  } catch (refused) {
    throw unreadable(key, refused as Refused);
  }
}

/** The error for a value that cannot be kept. */
export const unkeepable = (key: string, { message }: Refused): LockError =>
  invalid(`the result of ${quoted(key)} cannot be kept: ${message}`, key);

/** The error for words that cannot be read. It has nothing of them. */
export const unreadable = (key: string, { message }: Refused): LockError =>
  invalid(`what is kept of ${quoted(key)} cannot be read: ${message}. It is not run again; forget() it`, key);
