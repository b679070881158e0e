import { connect } from '../../src/connect/index.ts';
import type { Lease } from '../../src/index.ts';
import { serve } from '../kit/worker.ts';

const locks = await connect(process.env.URL!);
const leases = new Map<string, Lease>();

const calls = {
  async hold(key: string, ttl: number): Promise<bigint> {
    const lease = await locks.mutex(key).acquire({ ttl });
    leases.set(key, lease);
    return lease.token;
  },
  held: (key: string): boolean => leases.get(key)!.held,
  release: (key: string): Promise<boolean> => leases.get(key)!.release(),
};

export type HolderCalls = typeof calls;
serve(calls);
