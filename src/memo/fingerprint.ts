import { hash } from 'node:crypto';
import { invalid, NO_MARK } from '../core/index.ts';
import { toText } from './encoding.ts';
import { given } from './given.ts';

/**
 * The mark by which two requests are compared. `undefined` in one is refused: what is missing by mistake would make many requests one.
 * @throws LockError `LOCK_INVALID` for what cannot be compared
 */
export function fingerprint(options: { readonly match?: unknown }, key: string): string {
  if (!('match' in options)) return NO_MARK;
  return hash('sha256', comparable(options.match, 'match', key, true));
}

/** The arguments of a call as a request. They may be `undefined`. @throws LockError `LOCK_INVALID` for what cannot be compared */
export const requestOf = (args: readonly unknown[], of: string): string =>
  comparable(
    args,
    'arguments',
    undefined,
    false,
    `the arguments of ${of}`,
    '. Give match, a function of those that count',
  );

function comparable(
  value: unknown,
  at: string,
  key: string | undefined,
  whole: boolean,
  what: string = at,
  advice = '',
): string {
  try {
    return given('a part of it', () => toText(value, at, { sorted: true, whole }));
  } catch (error) {
    throw invalid(`${what} cannot be compared: ${(error as Error).message}${advice}`, key);
  }
}
