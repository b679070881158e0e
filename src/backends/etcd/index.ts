import type { Backend } from '../../core/backend.ts';
import { Etcd } from './etcd.ts';
import { open } from './open.ts';
import type { EtcdOptions } from './options.ts';

export type { EtcdOptions, EtcdTls } from './options.ts';

/**
 * Locks on an etcd cluster, 3.4 or later, over a connection of its own that `close` ends.
 * @throws LockError `LOCK_INVALID` for a bad option. Nothing is sent before the first lock is asked for.
 */
export function etcd(options: EtcdOptions): Backend {
  const { client, prefix, timeout, clock } = open(options);
  return new Etcd(client, prefix, timeout, clock);
}
