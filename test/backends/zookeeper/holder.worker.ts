import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import { createLocks, type Lease, type Locks } from '../../../src/index.ts';
import { serve } from '../../kit/worker.ts';

let locks: Locks;
let lease: Lease;
let reason: unknown;

const calls = {
  async take(servers: string, key: string, sessionTimeout: number): Promise<bigint> {
    locks = createLocks(zookeeper({ servers, sessionTimeout }));
    lease = await locks.mutex(key).acquire();
    lease.signal.addEventListener('abort', () => {
      reason = lease.signal.reason;
    });
    return lease.token;
  },
  /** Stands still, as in a long garbage collection, and looks at the lease before any timer can have run. */
  heldAfter(ms: number): boolean {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    return lease.held;
  },
  held: () => lease.held,
  whyLost: () => (reason as { code?: string } | undefined)?.code,
  close: () => locks.close(),
};

export type HolderCalls = typeof calls;
serve(calls);
