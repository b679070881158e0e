import type { Backend } from '../../core/backend.ts';
import { systemClock } from '../../core/clock.ts';
import { Client } from './client.ts';
import { Etcd } from './etcd.ts';
import { Channel } from './grpc.ts';
import { checkOptions, type EtcdOptions } from './options.ts';

export type { EtcdOptions, EtcdTls } from './options.ts';

/**
 * Locks on an etcd cluster, 3.4 or later, over a connection of its own that `close` ends.
 * @throws LockError `LOCK_INVALID` for a bad option. Nothing is sent before the first lock is asked for.
 */
export function etcd(options: EtcdOptions): Backend {
  const { urls, prefix, credentials, tls, timeout } = checkOptions(options);
  const clock = options.clock ?? systemClock;
  const client = new Client(new Channel(urls, tls, timeout, clock), credentials, timeout);
  return new Etcd(client, prefix, timeout, clock);
}
