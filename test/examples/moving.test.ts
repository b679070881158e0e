import { setTimeout as pass } from 'node:timers/promises';
import { Redis } from 'ioredis';
import Redlock from 'redlock';
import { expect, test } from 'vitest';
import { both, type OldLock } from '../../examples/moving/both.ts';
import { redis } from '../../src/backends/redis/index.ts';
import { createLocks } from '../../src/index.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';

describeOn('redis', 'moving from redlock', () => {
  test('code that takes both excludes the old code, and the new', async () => {
    await using server = await startRedis();
    const client = new Redis(server.port, server.host);
    await using locks = createLocks(redis(client));
    // Its own types cannot be imported from an ES module.
    const redlock = new Redlock([client as never], { retryCount: 200, retryDelay: 10 }) as unknown as OldLock;
    let [inside, most] = [0, 0];
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await pass(10);
      inside--;
    };
    const changing = () => both(redlock, locks, 'order:42', work);
    await Promise.all([changing(), redlock.using(['order:42'], 30_000, work), changing()]);
    await Promise.all([changing(), locks.mutex('order:42').run(work), changing()]);
    expect(most).toBe(1);
    client.disconnect();
  });
});
