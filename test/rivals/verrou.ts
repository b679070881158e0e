import { LockFactory } from '@verrou/core';
import { redisStore } from '@verrou/core/drivers/redis';
import { Redis } from 'ioredis';
import type { Rival } from './rival.ts';

/** A lock with a lease that is not renewed, as by default; it tells when that is over. */
export function openVerrou(url: string): Rival {
  const client = new Redis(url);
  client.on('error', () => {});
  const factory = new LockFactory(redisStore({ connection: client }).factory());
  return {
    async obtain(key, ttl, ms) {
      const lock = factory.createLock(key, ttl);
      const taken = ms === 0 ? lock.acquireImmediately() : lock.acquire({ retry: { timeout: ms } });
      if (!(await taken.catch(() => false))) return null;
      return {
        held: () => !lock.isExpired(),
        remaining: () => lock.getRemainingTime() ?? Number.POSITIVE_INFINITY,
        release: () => lock.release().catch(() => {}),
      };
    },
    close: async () => client.disconnect(),
  };
}
