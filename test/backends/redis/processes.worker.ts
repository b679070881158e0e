import { createLocks, type Lease } from '../../../src/index.ts';
import { serve } from '../../kit/worker.ts';
import { Fleet, type Library } from './fleet.ts';

const fleet = new Fleet(Number(process.env.REDIS_PORT));
const client = fleet.ioredis();
const locks = createLocks(await fleet.backend(process.env.LIBRARY as Library));
const leases = new Map<string, Lease>();

export type Calls = typeof calls;

const calls = {
  /** Adds one to a counter in two steps, `rounds` times, each under the lock; writes down every token. */
  async count(key: string, rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      await locks.mutex(key).run(async (lease) => {
        const seen = Number(await client.get(`count:${key}`));
        await client.rpush(`tokens:${key}`, `${lease.token}`);
        await client.set(`count:${key}`, seen + 1);
      });
    }
  },
  async acquire(key: string, ttl: number): Promise<bigint> {
    const lease = await locks.mutex(key).acquire({ ttl });
    leases.set(key, lease);
    return lease.token;
  },
  held: (key: string): boolean => leases.get(key)!.held,
  release: (key: string): Promise<boolean> => leases.get(key)!.release(),
};

serve(calls);
