import { BasicPooledClientSideCache, createSentinel } from 'redis';
import { expect, test } from 'vitest';
import { redis } from '../../../src/backends/redis/index.ts';
import { askRedis, startRedisSentinel } from '../../kit/redis.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { sentinelFleet } from '../redis/clients.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { Mail, wish } from '../redis/scene.ts';

describeOn('redis', 'redis-sentinel, listening', () => {
  test('a connection that is given up while it is made leaves none to the sentinels', { timeout: 60_000 }, async () => {
    await using group = await startRedisSentinel();
    await using fleet = sentinelFleet(group);
    const { client } = await fleet.open('ioredis');
    await fleet.over(client).release(wish('a first contact'));
    const watching = async (): Promise<number> =>
      (await askRedis(group.sentinels[0]!.port, 'CLIENT LIST')).split(' sub=1 ').length - 1;
    for (let i = 0; i < 150; i++) {
      const backend = redis(client);
      const opening = Mail.of(backend, wish('closing')).catch(() => {});
      const end = performance.now() + (i % 50) / 10;
      while (performance.now() < end) await new Promise((resolve) => setImmediate(resolve));
      await backend.close();
      await opening;
    }
    await until('only the client watches for another primary', async () => (await watching()) === 1);
  });

  test('while no sentinel answers, connections for replicas are given up, and none is left after closing', {
    timeout: 60_000,
  }, async () => {
    await using group = await startRedisSentinel();
    await using fleet = sentinelFleet(group);
    const backend = await fleet.backend('ioredis', { replicas: { acknowledge: 1, within: '100ms' } });
    await backend.release(wish('a first contact'));
    for (const sentinel of group.sentinels) await sentinel.kill();
    await expect(backend.attempt(wish('unheard'))).rejects.toThrow('no answer within');
  }); // the watch for leaks sees the rest

  test('whenever it is closed, also while it opens, nobody is left listening', { timeout: 60_000 }, async () => {
    await using group = await startRedisSentinel();
    await using fleet = sentinelFleet(group);
    const listening = (): Promise<string> => askRedis(group.servers[0]!.port, 'PUBSUB CHANNELS *:wake:*');
    for (const library of LIBRARIES) {
      for (const after of [0, 1, 3, 10, 30, 100]) {
        const backend = await fleet.backend(library);
        const opening = Mail.of(backend, wish('closing')).catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, after));
        await backend.close();
        await opening;
      }
    }
    await until('nobody listens any more', async () => (await listening()) === '*0\r\n');
  });

  test('a cache of createSentinel(), which the listener would share, is not emptied when that ends', {
    timeout: 60_000,
  }, async () => {
    await using group = await startRedisSentinel();
    const clientSideCache = new BasicPooledClientSideCache();
    const sentinelRootNodes = group.sentinels.map(({ port }) => ({ host: '127.0.0.1', port }));
    const client = createSentinel({ name: group.name, sentinelRootNodes, RESP: 3, clientSideCache });
    client.on('error', () => {});
    await client.connect();
    try {
      await client.get('cached');
      const backend = redis(client);
      await Mail.of(backend, wish('cached'));
      await backend.close();
      await until('the listener is gone', async () => {
        const channels = await askRedis(group.servers[0]!.port, 'PUBSUB CHANNELS *:wake:*');
        return channels === '*0\r\n';
      });
      expect(clientSideCache.size()).toBe(1);
    } finally {
      await client.destroy();
    }
  });

  for (const library of LIBRARIES) {
    test(`${library}: closed while it opens, at a primary that says nothing, it keeps nobody waiting`, {
      timeout: 60_000,
    }, async () => {
      await using group = await startRedisSentinel();
      await using fleet = sentinelFleet(group);
      const backend = await fleet.backend(library);
      await backend.release(wish('a first contact'));
      group.servers[0]!.pause();
      const opening = Mail.of(backend, wish('closing')).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 200));
      await backend.close();
      await settleWithin('the channel is given up', opening);
      group.servers[0]!.resume();
    });
  }
});
