import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { askRedis, startRedisCluster } from '../../kit/redis.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { clusterFleet } from '../redis/clients.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { granted, wish } from '../redis/scene.ts';
import { keysAt } from './keys.ts';
import { replicaOf, takeOver } from './replica.ts';

/** How many it shows, or that it says it cannot tell. */
async function shown(backend: Backend): Promise<number | 'unknown'> {
  let count = 0;
  try {
    for await (const _ of backend.inspect!('')) count++;
  } catch {
    return 'unknown';
  }
  return count;
}

/** Connections of clients, but for the one that asks. */
async function callers(port: number): Promise<number> {
  const list = await askRedis(port, 'CLIENT LIST TYPE normal');
  return (list.match(/\bid=/g) ?? []).length - 1;
}

describeOn('redis', 'redis-cluster, inspected', () => {
  for (const library of LIBRARIES) {
    test(`${library}: what is out of reach is not left out as if nobody held it`, { timeout: 60_000 }, async () => {
      await using cluster = await startRedisCluster();
      await using fleet = clusterFleet(cluster.servers);
      const { client, end } = await fleet.open(library);
      const backend = fleet.over(client);
      for (const primary of cluster.servers.slice(0, 3)) {
        granted(await backend.attempt(wish((await keysAt(primary))('held'))));
      }
      expect(await shown(backend)).toBe(3);
      // The replicas first: none of them knows less, in its place.
      for (const server of [...cluster.servers.slice(3), cluster.servers[0]!]) await server.kill();
      const seen = new Set<number | 'unknown'>();
      const over = performance.now() + 3_000;
      while (performance.now() < over) {
        seen.add(await Promise.race([shown(backend), sleep(1_000, 'unknown' as const)]));
        await sleep(10);
      }
      expect([...seen].filter((count) => count !== 3 && count !== 'unknown')).toEqual([]);
      await end();
      expect(await shown(backend), 'with a client that was ended').toBe('unknown');
    });

    test(`${library}: a node that ceases to be a primary meanwhile is not connected to again`, {
      timeout: 60_000,
    }, async () => {
      await using cluster = await startRedisCluster();
      await using fleet = clusterFleet(cluster.servers);
      const { client, end } = await fleet.open(library);
      const backend = fleet.over(client);
      const held = await Promise.all(cluster.servers.slice(0, 3).map(async (at) => (await keysAt(at))('held')));
      for (const key of held) granted(await backend.attempt(wish(key)));
      const inspecting = backend.inspect!('')[Symbol.asyncIterator]();
      const { value: first } = await inspecting.next();
      for (const [i, old] of cluster.servers.slice(0, 3).entries()) {
        if (held[i] === first.key) continue;
        await takeOver(await replicaOf(old, cluster.servers));
        await until('its locks are found', () => backend.renew([wish(held[i]!)]).then(([answer]) => answer === 'gone'));
      }
      await Promise.race([inspecting.next().catch(() => {}), sleep(1_000)]);
      await backend.close();
      await end();
      for (const { port } of cluster.servers)
        await until(`nobody is left at ${port}`, async () => (await callers(port)) === 0);
    });
  }
});
