import type { Locks } from '../../src/index.ts';

/**
 * The partner allows three calls at a time, over all our processes. A call that hangs gives its permit up after 5 s, and is told
 * shortly before. `call` resolves when the whole answer was read: `fetch` alone resolves when the headers are there.
 */
export function callPartner<T>(locks: Locks, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return locks
    .semaphore('partner', { permits: 3, ttl: '5s', renew: false })
    .run((lease) => call(lease.signal), { wait: '2s' });
}
