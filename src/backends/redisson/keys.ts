import { invalid, quoted } from '../../core/index.ts';
import { slotOf } from '../redis/port.ts';
import type { ForeignNaming } from '../redis-foreign/server.ts';

/** The keys and channels that Redisson has beside a lock, all in the slot of its name. */
export interface LockKeys {
  readonly lock: string;
  /** A key of ours: the token and the label of each hold of ours. */
  readonly records: string;
  readonly counter: string;
  /** The list of the owners that wait for a fair lock, and the sorted set with the times at which their waits expire. */
  readonly fairQueue: string;
  readonly fairEnds: string;
  /** The beginning of the keys whose ttls are the leases of reads. */
  readonly reads: string;
  readonly lockChannel: string;
  readonly rwChannel: string;
}

/** Gives the form of a name in the other keys. A name with a brace counts as having its own hash tag. */
const tagOf = (lock: string): string => (lock.includes('{') ? lock : `{${lock}}`);

/** Whether other keys of a lock are in another slot of a Cluster than the lock. */
export const isApart = (lock: string): boolean =>
  [`:${tagOf(lock)}`, `${tagOf(lock)}:`].some((key) => slotOf(key) !== slotOf(lock));

/** @throws LockError `LOCK_INVALID` if the keys of a name would be in several slots of a Cluster */
export function keysOf(naming: ForeignNaming, name: string, cluster: boolean): LockKeys {
  const lock = naming.keyOf(name);
  const hasBrace = lock.includes('{');
  const tagged = tagOf(lock);
  if (cluster && isApart(lock))
    throw invalid(`${quoted(lock)} is no name for a lock of Redisson in a Cluster: braces move its keys apart`, name);
  return {
    lock,
    records: `holdfast:redisson:${tagged}${hasBrace ? ':' : ''}`, // different for `a` and `{a}`, whose other keys are the same
    counter: `redisson_lock_token:${tagged}`,
    fairQueue: `redisson_lock_queue:${tagged}`,
    fairEnds: `redisson_lock_timeout:${tagged}`,
    reads: `${tagged}:`,
    lockChannel: `redisson_lock__channel:${tagged}`,
    rwChannel: `redisson_rwlock:${tagged}`,
  };
}
