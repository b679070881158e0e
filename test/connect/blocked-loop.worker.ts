import { connect } from '../../src/connect/index.ts';
import type { Lease, Locks } from '../../src/index.ts';
import { serve } from '../kit/worker.ts';

let locks: Locks;
const leases = new Map<string, Lease>();

/** Nothing else runs in this thread meanwhile. */
const block = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const calls = {
  async open(defaults: object): Promise<void> {
    locks = await connect(process.env.URL!, defaults);
  },
  close: (): Promise<void> => locks.close(),
  /** The loop is blocked in the very turn that has the lease, before anything else can be sent. */
  async holdBlocked(key: string, options: object, ms: number): Promise<boolean[]> {
    const lease = await locks.mutex(key).acquire(options);
    leases.set(key, lease);
    const { signal } = lease;
    block(ms);
    return [lease.held, lease.remaining > 0, signal.aborted];
  },
  async hold(key: string, options: object): Promise<boolean> {
    const lease = await locks.mutex(key).acquire(options);
    leases.set(key, lease);
    return lease.held;
  },
  extend: (key: string, ttl: number): Promise<void> => leases.get(key)!.extend(ttl),
  held: (...keys: string[]): boolean[] => keys.map((key) => leases.get(key)!.held),
  block,
  /** Resolves with the reason of the signal. */
  async lost(key: string): Promise<string> {
    const { signal } = leases.get(key)!;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return signal.reason.code;
  },
  /** Takes many holds, is blocked in that turn, goes on for a while, and counts what is still held. */
  async crowd(size: number, ttl: number, ms: number): Promise<number> {
    const all = await Promise.all(Array.from({ length: size }, (_, i) => locks.mutex(`crowd/${i}`).acquire({ ttl })));
    block(ms);
    const held = all.filter((lease) => lease.held).length;
    await new Promise((resolve) => setTimeout(resolve, ttl / 2));
    const after = all.filter((lease) => lease.held && !lease.signal.aborted).length;
    await Promise.all(all.map((lease) => lease.release()));
    return Math.min(held, after);
  },
  release: (key: string): Promise<boolean> => leases.get(key)!.release(),
};

export type BlockedCalls = typeof calls;
serve(calls);
