import { expect, test } from 'vitest';
import { askRedis, startRedisSentinel } from '../../kit/redis.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { sentinelFleet } from '../redis/clients.ts';
import { forget, loseThePrimary } from '../redis/fail-over.ts';
import { LIBRARIES } from '../redis/fleet.ts';

describeOn('redis', 'redis-sentinel, the primary lost', () => {
  for (const library of LIBRARIES) {
    for (const fault of ['kill', 'pause'] as const) {
      test(`${library}: after a ${fault} waiters proceed, and holders keep or are told in time`, {
        timeout: 60_000,
      }, async ({ annotate }) => {
        await using group = await startRedisSentinel();
        await using fleet = sentinelFleet(group);
        const primary = group.servers[0]!;
        const { write, served, kept } = await loseThePrimary(
          fleet,
          library,
          (name) => name,
          async () => {
            await askRedis(primary.port, 'WAIT 2 1000');
            await primary[fault]();
          },
        );
        await annotate(
          `first write after ${Math.round(write)} ms, waiter served after ${Math.round(served)} ms, kept: ${kept}`,
        );
        if (fault === 'pause') primary.resume();
      });
    }

    test(`${library}: a fail-over that forgets a grant lets two in, and only the token tells them apart`, {
      timeout: 60_000,
    }, async () => {
      await using group = await startRedisSentinel();
      await using fleet = sentinelFleet(group);
      const [primary, ...replicas] = group.servers;
      const { holders, written } = await forget(
        fleet,
        library,
        'forgotten',
        async () => {
          for (const replica of replicas) replica.pause();
          // What is in their sockets they would still read.
          await askRedis(primary!.port, 'CLIENT KILL TYPE replica');
        },
        async () => {
          await primary!.kill();
          for (const replica of replicas) replica.resume();
          await until('another is primary', async () => (await group.primary()) !== primary!.port, 20_000);
        },
      );
      expect(holders, 'this is what replication loses: see the page').toBe(2);
      expect(written, 'the stale one is refused').toEqual(['next']);
    });
  }
});
