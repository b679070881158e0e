import { expect, test } from 'vitest';
import { startRedisCluster } from '../../kit/redis.ts';
import { describeOn } from '../../kit/suite.ts';
import { clusterFleet } from '../redis/clients.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { granted, wish } from '../redis/scene.ts';
import { keysAt } from './keys.ts';

describeOn('redis', 'redis-cluster with replicas that acknowledge', () => {
  test('each primary waits for its own replica; one that stands still refuses only its own keys', {
    timeout: 60_000,
  }, async () => {
    await using cluster = await startRedisCluster();
    await using fleet = clusterFleet(cluster.servers);
    const primaries = cluster.servers.slice(0, 3);
    for (const library of LIBRARIES) {
      const backend = await fleet.backend(library, { replicas: { acknowledge: 1, within: '100ms' } });
      const claims = await Promise.all(primaries.map(async (primary) => wish((await keysAt(primary))(library))));
      for (const claim of claims) granted(await backend.attempt(claim));
      expect(await backend.renew(claims)).toEqual(claims.map(({ ttl }) => ({ validFor: ttl })));
      cluster.servers[3]!.pause();
      const renewals = await backend.renew(claims);
      cluster.servers[3]!.resume();
      expect(renewals.filter((renewal) => renewal === 'unknown')).toHaveLength(1);
      for (const claim of claims) expect((await backend.release(claim)).freed).toBe(true);
    }
  });
});
