import { LockError } from '../../core/errors.ts';
import { Code, KeeperError } from './wire/errors.ts';

/** Answers that will be the same next time, and what to do about each. */
const FOR_GOOD: ReadonlyMap<number, string> = new Map([
  [Code.noAuth, 'the nodes belong to another user. Give the `auth` they were made with, or another prefix'],
  [Code.invalidAcl, 'it does not take this `acl`. One for `auth` needs `auth: { user, password }`'],
  [Code.authFailed, 'it does not accept this `auth`'],
  [Code.localSession, 'its sessions are local. Set `localSessionsUpgradingEnabled=true` on the servers'],
  [Code.quotaExceeded, 'the quota is used up. Raise it with `setquota`; keys not in use go after a minute'],
  [Code.saslRequired, 'it wants SASL authentication, which is not supported. Use digest or TLS certificates'],
  [Code.unimplemented, 'it is too old: container nodes need ZooKeeper 3.5 or newer'],
]);

/** What to throw for an error: definite if another try would end the same; else as it is, which means unknown. */
export function explained(error: unknown, what: string, key?: string): unknown {
  const reason = error instanceof KeeperError ? FOR_GOOD.get(error.code) : undefined;
  if (reason === undefined) return error;
  return new LockError('LOCK_UNAVAILABLE', `ZooKeeper would not ${what}: ${reason}`, {
    key,
    backend: 'zookeeper',
    cause: error,
  });
}

/** For a claim of a quorum, which brings the ticket. */
export const unsupported = (key: string): LockError =>
  new LockError(
    'LOCK_UNSUPPORTED',
    'ZooKeeper numbers its tickets itself: it cannot serve in a quorum that raises them',
    {
      key,
      backend: 'zookeeper',
    },
  );
