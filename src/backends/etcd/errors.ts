import { LockError } from '../../core/contract/errors.ts';
import { GrpcError, STATUS } from './wire/grpc.ts';

/** Definite refusals, by status and words, with advice. */
const ADVICE: readonly (readonly [status: number, words: RegExp, advice: string])[] = [
  [STATUS.invalidArgument, /too many operations/, 'raise `--max-txn-ops` of the servers, or ask for less at a time'],
  [STATUS.invalidArgument, /too large/, 'raise `--max-request-bytes` of the servers, or put less at a time'],
  [STATUS.invalidArgument, /(?:)/, 'check user and password'],
  [STATUS.permissionDenied, /(?:)/, 'the user needs to read and write the keys that begin with the prefix and a slash'],
  [STATUS.resourceExhausted, /space exceeded/, 'compact and defragment it, then disarm the alarm'],
  [
    STATUS.resourceExhausted,
    /received message larger/,
    'raise `--max-request-bytes` of the servers, or put less at a time',
  ],
  [STATUS.unauthenticated, /(?:)/, 'check user and password'],
  [STATUS.unimplemented, /(?:)/, 'version 3.4 or later is needed'],
];

/** A definite refusal becomes a `LockError`. Any other error, whose outcome is unknown, stays as it is. */
export function refusal(error: unknown): unknown {
  if (!(error instanceof GrpcError)) return error;
  const advice = ADVICE.find(([status, words]) => status === error.status && words.test(error.message))?.[2];
  if (!advice) return error;
  const message = `etcd refused: ${error.message}; ${advice}`;
  return new LockError('LOCK_UNAVAILABLE', message, { backend: 'etcd', cause: error });
}

/** A token ends after minutes without use, when its member restarts, and when a user or a role is changed. */
export const isStale = (error: unknown): boolean =>
  error instanceof GrpcError &&
  (error.status === STATUS.unauthenticated || /auth store is old|user name is empty/.test(error.message));
