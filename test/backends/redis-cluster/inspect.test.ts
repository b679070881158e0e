import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Backend } from '../../../src/core/backend.ts';
import { startRedisCluster } from '../../kit/redis.ts';
import { describeOn } from '../../kit/suite.ts';
import { clusterFleet } from '../redis/clients.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { granted, wish } from '../redis/scene.ts';
import { keysAt } from './keys.ts';

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
  }
});
