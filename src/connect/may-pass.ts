import { isLockError } from '../core/contract/errors.ts';

/** What servers say to a wrong user or password, by the code of the driver's error. */
const REFUSED: ReadonlySet<unknown> = new Set([
  '28P01', // PostgreSQL: the password
  '28000', // PostgreSQL: the user
  'ER_ACCESS_DENIED_ERROR',
  'ER_DBACCESS_DENIED_ERROR',
]);
/** Of Redis, at the beginning of the message. */
const REFUSAL = /^(?:WRONGPASS|NOAUTH|NOPERM)\b/;
/** Of Node, about a certificate. */
const DISTRUST = /^(?:ERR_TLS_|CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/;

/**
 * Whether another try may end better: the server is not there yet, its name is not known yet, it does not answer, or has no room. Not
 * where the address, the driver, a user, a password or a certificate is wrong, nor where the backend says what is wrong.
 */
export function mayPass(error: unknown): boolean {
  if (!isLockError(error, 'LOCK_UNAVAILABLE') || error.backend !== undefined) return false;
  const { cause } = error;
  if (cause instanceof AggregateError) return cause.errors.some(mayPass); // of several engines
  const { code, message = '' } = (cause ?? {}) as { readonly code?: unknown; readonly message?: string };
  return !REFUSED.has(code) && !REFUSAL.test(message) && !DISTRUST.test(String(code));
}
