import { Redis } from 'ioredis';
import { createSentinel } from 'redis';
import { expect, test } from 'vitest';
import { type RedisClient, redis } from '../../../src/backends/redis/index.ts';
import { createLocks } from '../../../src/index.ts';
import { askRedis, type RedisSentinel, startRedisSentinel } from '../../kit/redis.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { LIBRARIES, type Library } from '../redis/fleet.ts';

/** Clients set as the page says, and how often each was led to a server. */
async function opened(
  library: Library,
  { name, sentinels }: RedisSentinel,
): Promise<{ client: RedisClient; led: () => number; end: () => unknown }> {
  const addresses = sentinels.map(({ port }) => ({ host: '127.0.0.1', port }));
  let led = 0;
  const count = (): void => void led++;
  if (library === 'ioredis') {
    const client = new Redis({
      sentinels: addresses,
      name,
      reconnectOnError: ({ message }) => (message.startsWith('READONLY') ? 2 : false),
    });
    client.on('error', () => {}).on('connect', count);
    return { client, led: () => led, end: () => client.disconnect() };
  }
  const client = createSentinel({ name, sentinelRootNodes: addresses });
  client.on('error', () => {});
  client.on('topology-change', ({ type }) => type === 'MASTER_CHANGE' && count());
  await client.connect();
  return { client, led: () => led, end: () => client.destroy() };
}

describeOn('redis', 'redis-sentinel, a primary demoted', () => {
  for (const library of LIBRARIES) {
    test(`${library}: a demotion that ends no connection costs one reconnection, and no hold`, {
      timeout: 60_000,
    }, async () => {
      await using group = await startRedisSentinel();
      const { client, led, end } = await opened(library, group);
      const locks = createLocks(redis(client));
      try {
        const held = await locks.mutex('held').acquire({ ttl: '12s' });
        const before = led();
        const [old, next] = group.servers;
        await askRedis(old!.port, 'WAIT 2 1000');
        // By hand: a sentinel's own fail-over ends the connections to the old primary, where its user has the right to.
        for (const { port } of group.sentinels) await askRedis(port, `SENTINEL REMOVE ${group.name}`);
        await askRedis(next!.port, 'REPLICAOF NO ONE');
        await askRedis(old!.port, `REPLICAOF 127.0.0.1 ${next!.port}`);
        for (const { port } of group.sentinels)
          await askRedis(port, `SENTINEL MONITOR ${group.name} 127.0.0.1 ${next!.port} 2`);
        const deadline = (): number => performance.now() + held.remaining;
        const moved = deadline();
        await until('it is renewed at the next primary', () => held.held && deadline() > moved + 500, 11_500);
        await using other = await locks.mutex('other').acquire({ wait: '10s' });
        expect(other.held).toBe(true);
        expect(await held.release()).toBe(true);
        expect(led() - before, 'reconnections').toBe(1);
      } finally {
        await locks.close();
        await end();
      }
    });
  }
});
