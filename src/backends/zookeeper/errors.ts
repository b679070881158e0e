import { LockError } from '../../core/contract/errors.ts';
import { Code, KeeperError } from './wire/errors.ts';

/** Errors that another try would get again, with advice. */
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
