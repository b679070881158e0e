import { etcd } from '../../../src/backends/etcd/index.ts';
import { createLocks, type Lease } from '../../../src/index.ts';
import { serve, tell } from '../../kit/worker.ts';

const locks = createLocks(etcd({ endpoints: process.env.ENDPOINTS!.split(',') }));
let lease: Lease | undefined;

const calls = {
  async hold(key: string, ttl: number) {
    lease = await locks.mutex(key).acquire({ ttl });
    lease.signal.addEventListener('abort', () => tell('lost', lease!.signal.reason.code));
    return lease.token;
  },
  held: () => lease?.held,
};

export type HolderCalls = typeof calls;
serve(calls);
