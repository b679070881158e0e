/** A process of ours that locks beside Java. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { connect } from '../../../src/connect/index.ts';
import { serve } from '../../kit/worker.ts';

const calls = {
  /** Takes a lock, and keeps it until it is killed. */
  async hold(url: string, name: string, ttl: number): Promise<void> {
    await (await connect(url)).mutex(name, { ttl }).acquire();
  },
  /** Enters sections until then. The referee is another server: it counts those inside, and keeps the tokens in order. */
  async race(url: string, name: string, ms: number, referee: number): Promise<number> {
    await using locks = await connect(url);
    const other = new Redis(referee, '127.0.0.1');
    let served = 0;
    for (const end = performance.now() + ms; performance.now() < end; served++) {
      await locks.mutex(name, { ttl: 2_000, wait: 20_000 }).run(async ({ token }) => {
        if ((await other.incr('inside')) > 1) await other.incr('overlaps');
        await other.rpush('tokens', `${token}`);
        await other.decr('inside');
      });
      await sleep(1);
    }
    other.disconnect();
    return served;
  },
};
export type NodeCalls = typeof calls;

serve(calls);
