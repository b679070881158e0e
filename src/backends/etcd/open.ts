import { type Clock, systemClock } from '../../core/clock.ts';
import { Client } from './client.ts';
import { Channel } from './grpc.ts';
import { checkOptions, type EtcdOptions } from './options.ts';

/** What the options come to: a client of our own, which connects when first asked. */
export interface Opened {
  readonly client: Client;
  readonly prefix: string;
  /** ms a call may take. */
  readonly timeout: number;
  readonly clock: Clock;
}

/** @throws LockError `LOCK_INVALID` */
export function open(options: EtcdOptions): Opened {
  const { urls, prefix, credentials, tls, timeout } = checkOptions(options);
  const clock = options.clock ?? systemClock;
  return { client: new Client(new Channel(urls, tls, timeout, clock), credentials, timeout), prefix, timeout, clock };
}
