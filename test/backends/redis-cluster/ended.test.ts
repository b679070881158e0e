import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startRedisCluster } from '../../kit/redis.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin } from '../../kit/wait.ts';
import { clusterFleet } from '../redis/clients.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { granted, wish } from '../redis/scene.ts';

describeOn('redis', 'redis-cluster, with a client that was ended', () => {
  test('after its owner closed the client, calls fail at once and say why, also where replicas are waited for', {
    timeout: 60_000,
  }, async () => {
    await using cluster = await startRedisCluster();
    await using fleet = clusterFleet(cluster.servers);
    for (const library of LIBRARIES) {
      const { client, end } = await fleet.open(library);
      const backends = [fleet.over(client), fleet.over(client, { replicas: { acknowledge: 1, within: 1_000 } })];
      for (const backend of backends) granted(await backend.attempt(wish(`${library} ${backends.indexOf(backend)}`)));
      await end();
      await sleep(50); // ioredis says that it has ended, and then something else
      for (const backend of backends) {
        const asked = backend.attempt(wish('after')).catch((error) => error);
        expect(await settleWithin(`${library} fails`, asked, 2_000)).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      }
    }
  });
});
