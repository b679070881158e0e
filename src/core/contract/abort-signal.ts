import { invalid, shown } from './errors.ts';

/** @throws LockError `LOCK_INVALID` */
export function abortSignal(value: AbortSignal | undefined, key?: string): AbortSignal | undefined {
  if (value === undefined || value instanceof AbortSignal) return value;
  throw invalid(`signal is ${shown(value)}; it must be an AbortSignal`, key);
}
