import { LockError } from '../../core/index.ts';

/** The codes of a server without change streams: it is not part of a replica set, does not support them, or the user has no right to them. */
export const NO_CHANGE_STREAMS: ReadonlySet<unknown> = new Set([40_573, 115, 13]);

/** Definite refusals: the server did nothing. https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml */
const REFUSALS = new Map<unknown, string>([
  [13, 'the user needs find, insert and update on the collection'],
  [18, 'check user and password'],
  [9, 'version 4.4 or later is needed'],
  [14, 'version 4.4 or later is needed'],
  [40_324, 'version 4.4 or later is needed'],
]);

export const codeOf = (error: unknown): unknown => (error as { code?: unknown } | undefined)?.code;

/** A definite refusal becomes a `LockError`. Any other error, whose outcome is unknown, stays as it is. */
export function refusal(error: unknown): unknown {
  const advice = REFUSALS.get(codeOf(error));
  if (!advice) return error;
  const message = `MongoDB refused: ${(error as Error).message}; ${advice}`;
  return new LockError('LOCK_UNAVAILABLE', message, { backend: 'mongodb', cause: error });
}
