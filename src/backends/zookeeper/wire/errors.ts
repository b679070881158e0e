import { LockError } from '../../../core/index.ts';

/** The codes of `org.apache.zookeeper.KeeperException` that are used here. */
export const Code = {
  unimplemented: -6,
  noNode: -101,
  noAuth: -102,
  nodeExists: -110,
  sessionExpired: -112,
  invalidAcl: -114,
  authFailed: -115,
  localSession: -120,
  saslRequired: -124,
  quotaExceeded: -125,
} as const;

export class KeeperError extends Error {
  override readonly name = 'KeeperError';
  readonly code: number;

  constructor(code: number, operation: string) {
    const known = Object.entries(Code).find(([, value]) => value === code)?.[0];
    super(`ZooKeeper refused ${operation}: ${known ?? 'error'} (${code})`);
    this.code = code;
  }
}

/** The connection ended before the answer. The request may still have an effect. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export const isKeeperError = (error: unknown, code: number): boolean =>
  error instanceof KeeperError && error.code === code;

/** Errors that another attempt would get again, with advice. */
const FOR_GOOD: ReadonlyMap<number, string> = new Map([
  [Code.noAuth, 'the nodes belong to another user. Give the `auth` they were made with, or another prefix'],
  [Code.invalidAcl, 'it does not take this `acl`. One for `auth` needs `auth: { user, password }`'],
  [Code.authFailed, 'it does not accept this `auth`'],
  [Code.localSession, 'its sessions are local. Set `localSessionsUpgradingEnabled=true` on the servers'],
  [Code.quotaExceeded, 'the quota is used up. Raise it with `setquota`; keys not in use go after a minute'],
  [Code.saslRequired, 'it wants SASL authentication, which is not supported. Use digest or TLS certificates'],
  [Code.unimplemented, 'it is too old: container nodes need ZooKeeper 3.5 or newer'],
]);

/** A definite refusal becomes a `LockError`. Any other error, whose outcome is unknown, stays as it is. */
export function translateError(error: unknown, what: string): unknown {
  const reason = error instanceof KeeperError ? FOR_GOOD.get(error.code) : undefined;
  if (reason === undefined) return error;
  const message = `ZooKeeper would not ${what}: ${reason}`;
  return new LockError('LOCK_UNAVAILABLE', message, { backend: 'zookeeper', cause: error });
}
