import { hash } from 'node:crypto';
import { invalid, LockError, NO_MARK, quoted } from '../core/index.ts';
import { given, toText } from './encoding.ts';

/**
 * The mark of a request: equal requests have equal marks. `undefined` inside is refused: if a part were missing by mistake, many requests would have
 * the same mark.
 * @throws LockError `LOCK_INVALID` for what cannot be compared
 */
export function fingerprint(options: { readonly match?: unknown }, key: string): string {
  if (!('match' in options)) return NO_MARK;
  const text = comparable(options.match, 'match', true, (why) => invalid(`match ${why}`, key));
  return hash('sha256', text);
}

/** The arguments of a call as a request. An argument may be `undefined`. @throws LockError `LOCK_INVALID` for what cannot be compared */
export const requestOf = (args: readonly unknown[], of: string): string =>
  comparable(args, 'arguments', false, (why) =>
    invalid(`the arguments of ${of} ${why}. Give match, a function of those that count`),
  );

/**
 * A value as text that is the same for equal values. @param whole whether `undefined` inside is refused
 * @throws the error of `refusal` for what cannot be compared
 */
export function comparable(value: unknown, at: string, whole: boolean, refusal: (why: string) => LockError): string {
  try {
    return given('a part of it', () => toText(value, at, { sorted: true, whole }));
  } catch (error) {
    throw refusal(`cannot be compared: ${(error as Error).message}`);
  }
}

interface Request {
  readonly key: string;
  readonly backend: string;
  readonly match: string;
}

/** Whether two marks surely belong to different requests. */
export const differ = (a: string, b: string): boolean => a !== NO_MARK && b !== NO_MARK && a !== b;

/** @throws LockError `LOCK_MISMATCH` */
export function checkMatch(request: Request, other: string): void {
  if (differ(request.match, other)) throw mismatch(request);
}

export function mismatch({ key, backend }: Request): LockError {
  const why = `${quoted(key)} on ${backend} belongs to another request, which gave another \`match\`. Use one key for each request`;
  return new LockError('LOCK_MISMATCH', why, { key, backend });
}
