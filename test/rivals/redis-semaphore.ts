import { Redis } from 'ioredis';
import { Mutex } from 'redis-semaphore';
import type { Rival } from './rival.ts';

/** A mutex that refreshes itself, by its default, with the callback for a loss that its documents ask for. */
export function openRedisSemaphore(url: string): Rival {
  const client = new Redis(url);
  client.on('error', () => {});
  return {
    async obtain(key, ttl, ms) {
      const lost = new AbortController();
      const mutex = new Mutex(client, key, {
        lockTimeout: ttl,
        acquireTimeout: Math.max(ms, 1),
        ...(ms === 0 && { acquireAttemptsLimit: 1 }),
        onLockLost: (error) => lost.abort(error),
      });
      if (!(await mutex.tryAcquire().catch(() => false))) return null;
      return {
        held: () => mutex.isAcquired && !lost.signal.aborted,
        signal: lost.signal,
        release: () => mutex.release().catch(() => {}),
      };
    },
    close: async () => client.disconnect(),
  };
}
