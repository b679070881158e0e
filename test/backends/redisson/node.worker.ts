/** A process of ours that locks beside Java. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { connect } from '../../../src/connect/index.ts';
import type { Lease, Locks } from '../../../src/index.ts';
import { serve } from '../../kit/worker.ts';

let locks: Locks | undefined;
let held: Lease | undefined;

const calls = {
  /** Takes a lock, and keeps it until it is killed. */
  async hold(url: string, name: string, ttl: number): Promise<void> {
    await (await connect(url)).mutex(name, { ttl }).acquire();
  },
  /**
   * Enters sections until then; gives how many, and the longest wait for one, ms. The referee is another server: it counts those inside, and
   * keeps the tokens in order.
   */
  async race(url: string, name: string, ms: number, referee: number): Promise<[served: number, longest: number]> {
    await using locks = await connect(url);
    const other = new Redis(referee, '127.0.0.1');
    let [served, longest] = [0, 0];
    for (const end = performance.now() + ms; performance.now() < end; served++) {
      const asked = performance.now();
      await locks.mutex(name, { ttl: 2_000, wait: 20_000 }).run(async ({ token }) => {
        longest = Math.max(longest, performance.now() - asked);
        if ((await other.incr('inside')) > 1) await other.incr('overlaps');
        await other.rpush('tokens', `${token}`);
        await other.decr('inside');
      });
      await sleep(1);
    }
    other.disconnect();
    return [served, Math.round(longest)];
  },
  /** Gives the time after a lock was taken, by the clock of this machine that Java can read, too, ns. */
  async timedTake(url: string, name: string): Promise<bigint> {
    locks ??= await connect(url);
    held = await locks.mutex(name, { ttl: 20_000, wait: 20_000, handOff: false }).acquire();
    return process.hrtime.bigint();
  },
  /** Gives the time before it was freed. */
  async timedFree(): Promise<bigint> {
    const began = process.hrtime.bigint();
    await held!.release();
    return began;
  },
};
export type NodeCalls = typeof calls;

serve(calls);
