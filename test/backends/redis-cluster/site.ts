import { afterAll, beforeAll } from 'vitest';
import { startRedisCluster } from '../../kit/redis.ts';
import type { Servers } from '../../kit/server.ts';
import { clusterFleet } from '../redis/clients.ts';
import type { Fleet } from '../redis/fleet.ts';

/** A cluster that the tests of a `describe` share, with its clients. Both are there as soon as the tests run. */
export interface ClusterSite {
  cluster: Servers;
  fleet: Fleet;
}

/** Starts a cluster before the tests around it, and ends it after them. */
export function sharedCluster(): ClusterSite {
  const site = {} as ClusterSite;
  beforeAll(async () => {
    site.cluster = await startRedisCluster();
    site.fleet = clusterFleet(site.cluster.servers);
  });
  afterAll(async () => {
    await site.fleet[Symbol.asyncDispose]();
    await site.cluster[Symbol.asyncDispose]();
  });
  return site;
}
