import { afterAll, beforeAll } from 'vitest';
import { type RedisSentinel, startRedisSentinel } from '../../kit/redis.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { sentinelFleet } from '../redis/clients.ts';
import { type Fleet, LIBRARIES } from '../redis/fleet.ts';
import { subjectOf } from '../redis/subject.ts';

describeOn('redis', 'redis-sentinel', () => {
  let started: RedisSentinel;
  let fleet: Fleet;

  beforeAll(async () => {
    started = await startRedisSentinel();
    fleet = sentinelFleet(started);
  }, 60_000);
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await started[Symbol.asyncDispose]();
  });

  for (const library of LIBRARIES)
    describeConformance(subjectOf(`redis-sentinel over ${library}`, () => fleet, [library]));
});
