import { isLockError, LockError } from '../core/contract/errors.ts';

/**
 * A driver's error with its names, codes and messages, and nothing else. Some drivers add the command (`AUTH user password`) or the
 * whole URL, and loggers would print that.
 */
export function withoutSecrets(error: unknown, secrets: readonly string[]): Error {
  const safe = (text: string): string =>
    secrets.reduce((told, secret) => (secret === '' ? told : told.replaceAll(secret, '***')), text);
  if (!(error instanceof Error)) return new Error(safe(String(error)));
  const cause = error.cause === undefined ? undefined : withoutSecrets(error.cause, secrets);
  const { code } = error as { code?: unknown };
  const message = safe(error.message || reasons(error) || String(code ?? error.name));
  const { stack } = error;
  const told = isLockError(error)
    ? new LockError(error.code, message, { key: error.key, backend: error.backend, cause })
    : Object.assign(new Error(message, cause && { cause }), { name: error.name }, code === undefined ? {} : { code });
  if (stack !== undefined) told.stack = safe(stack);
  return told;
}

/** For a name with several addresses, Node lists the failures and leaves the message empty. */
const reasons = (error: Error): string =>
  error instanceof AggregateError ? error.errors.map((each: Error) => each.message).join('; ') : '';
