import { expect, test } from 'vitest';
import { slotOf } from '../../../src/backends/redis/port.ts';
import { startRedisCluster } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { clusterFleet } from '../redis/clients.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { granted, wish } from '../redis/scene.ts';
import { keysAt } from './keys.ts';
import { move } from './move.ts';

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

  for (const library of LIBRARIES) {
    test(`${library}: a hold goes on where its slot was moved to, and the next one is had there`, {
      timeout: 60_000,
    }, async () => {
      await using cluster = await startRedisCluster();
      await using fleet = clusterFleet(cluster.servers);
      const backend = await fleet.backend(library, { replicas: { acknowledge: 1, within: '500ms' } });
      const [from, to, other] = cluster.servers as readonly [Server, Server, Server];
      const claim = wish((await keysAt(from))('moved'));
      granted(await backend.attempt(claim));
      await move(slotOf(`{${claim.key}}`), 'lock first', from, to, [other]);
      await until('it is renewed there', async () => (await backend.renew([claim]))[0] !== 'unknown');
      expect(await backend.renew([claim])).toEqual([{ validFor: claim.ttl }]);
      expect((await backend.release(claim)).freed).toBe(true);
      granted(await backend.attempt(wish(claim.key)));
    });
  }

  test('whoever is told a key prefix waits for replicas of the same keys that it releases', {
    timeout: 60_000,
  }, async () => {
    await using cluster = await startRedisCluster();
    const keyPrefix = 'app:';
    for (const options of [{ keyPrefix }, { redisOptions: { keyPrefix } }]) {
      await using fleet = clusterFleet(cluster.servers, options, { keyPrefix });
      for (const library of LIBRARIES) {
        const backend = await fleet.backend(library, { replicas: { acknowledge: 1, within: '500ms' } });
        for (let i = 0; i < 5; i++) {
          const claim = wish(`${i}`);
          granted(await backend.attempt(claim));
          expect((await backend.release(claim)).freed, library).toBe(true);
        }
      }
    }
  });
});
