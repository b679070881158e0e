import { Cluster, Redis } from 'ioredis';
import { createSentinel } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RedisClient, redis } from '../../../src/backends/redis/index.ts';
import { EVICT, RELEASE, STORE } from '../../../src/backends/redis/scripts.generated.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { HOST } from '../../kit/net.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import { type RedisSentinel, startRedis, startRedisPrimaries, startRedisSentinel } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { keysAt } from '../redis-cluster/keys.ts';
import { granted, wish } from './scene.ts';

/** Locks over a client of which a proxy loses replies. By default ioredis, and node-redis behind sentinels, send again what was not answered. */
interface Lossy extends AsyncDisposable {
  readonly locks: Locks;
  readonly proxy: FaultProxy;
  readonly key: (name: string) => string;
  readonly client: RedisClient;
}

function lossy(client: RedisClient, end: () => unknown, proxy: FaultProxy, key: Lossy['key']): Lossy {
  const locks = createLocks(redis(client));
  return {
    ...{ locks, proxy, key, client },
    async [Symbol.asyncDispose]() {
      await locks.close();
      await end();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

describeOn('redis', 'what a client sends again after its connection was lost', () => {
  let server: Server;
  let cluster: Awaited<ReturnType<typeof startRedisPrimaries>>;
  let group: RedisSentinel;
  beforeAll(async () => {
    server = await startRedis();
    group = await startRedisSentinel();
    cluster = await startRedisPrimaries(3);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
    await group[Symbol.asyncDispose]();
  });

  const single = async (): Promise<Lossy> => {
    const proxy = await startProxy(server.port);
    const client = new Redis({ host: HOST, port: proxy.port }).on('error', () => {});
    return lossy(
      client,
      () => client.disconnect(),
      proxy,
      (name) => name,
    );
  };
  const clustered = async (): Promise<Lossy> => {
    const [behind] = cluster.servers as [Server];
    const proxy = await startProxy(behind.port);
    const natMap = { [`${HOST}:${behind.port}`]: { host: HOST, port: proxy.port } };
    const client = new Cluster(
      cluster.servers.map(({ port }) => ({ host: HOST, port })),
      { natMap },
    ).on('error', () => {});
    return lossy(client, () => client.disconnect(), proxy, await keysAt(behind));
  };
  const watched = async (): Promise<Lossy> => {
    const { port } = group.servers[0]!;
    const proxy = await startProxy(port);
    const client = createSentinel({
      name: group.name,
      sentinelRootNodes: group.sentinels.map((each) => ({ host: HOST, port: each.port })),
      nodeAddressMap: { [`${HOST}:${port}`]: { host: HOST, port: proxy.port } },
    }).on('error', () => {});
    await client.connect();
    return lossy(
      client,
      () => client.destroy(),
      proxy,
      (name) => name,
    );
  };

  describe.each([
    ['one server', single],
    ['a Cluster', clustered],
    ['sentinels, with node-redis', watched],
  ])('%s', (_, open) => {
    test('a release that freed the key says so', async () => {
      await using at = await open();
      const mutex = at.locks.mutex(at.key('released'));
      await mutex.run(() => {}); // the server knows the scripts now
      const lease = await mutex.acquire();
      const cut = at.proxy.cutAfter(RELEASE.sha1);
      expect(await lease.release()).toBe(true);
      await cut;
    });

    test('a memo whose words were left says that they are kept', async () => {
      await using at = await open();
      const run = (key: string) => at.locks.memo(at.key(key), { keep: '1m', ttl: '20s' }).run(() => key);
      await run('first');
      const cut = at.proxy.cutAfter(STORE.sha1);
      expect(await run('second')).toMatchObject({ value: 'second', ran: true, kept: true });
      await cut;
    });

    test('a forced release, and words that are forgotten, are not said to have found nothing', async () => {
      await using at = await open();
      const backend = redis(at.client);
      const evict = async (name: string): Promise<boolean> => {
        const claim = wish(at.key(name));
        return backend.evict!(claim.key, granted(await backend.attempt(claim)).token);
      };
      expect(await evict('forced')).toBe(true);
      let cut = at.proxy.cutAfter(EVICT.sha1);
      await expect(evict('again')).rejects.toThrow(/sent it again/);
      await cut;
      const key = at.key('forgotten');
      await at.locks.memo(key, { keep: '1m', ttl: '20s' }).run(() => 1);
      cut = at.proxy.cutAfter(`${key}}:value`);
      await expect(backend.values!.forget(key)).rejects.toThrow(/sent it again/);
      await cut;
      await backend.close();
    });
  });
});
