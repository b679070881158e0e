import { afterAll, beforeAll } from 'vitest';
import { startRedisCluster } from '../../kit/redis.ts';
import type { Servers } from '../../kit/server.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { clusterFleet } from '../redis/clients.ts';
import { type Fleet, LIBRARIES } from '../redis/fleet.ts';
import { subjectOf } from '../redis/subject.ts';

describeOn('redis', 'redis-cluster', () => {
  let started: Servers;
  let fleet: Fleet;

  beforeAll(async () => {
    started = await startRedisCluster();
    fleet = clusterFleet(started.servers);
  }, 60_000);
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await started[Symbol.asyncDispose]();
  });

  for (const library of LIBRARIES)
    describeConformance(subjectOf(`redis-cluster over ${library}`, () => fleet, [library]));
});
