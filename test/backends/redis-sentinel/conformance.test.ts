import { afterAll, beforeAll } from 'vitest';
import { askRedis, type RedisSentinel, startRedisSentinel } from '../../kit/redis.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { sentinelFleet } from '../redis/clients.ts';
import { type Fleet, LIBRARIES } from '../redis/fleet.ts';
import { subjectOf } from '../redis/subject.ts';

/** A new client asks the sentinels for the primary before its first request: that takes its time on a busy machine. */
const TIMING = { ttl: 1_200, tolerance: 600 };

describeOn('redis', 'redis-sentinel', () => {
  let started: RedisSentinel;
  let fleet: Fleet;

  beforeAll(async () => {
    started = await startRedisSentinel();
    fleet = sentinelFleet(started);
  }, 60_000);
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    // The clients of node-redis end a little later than they say, and would connect again to servers that are gone.
    const listening = async (): Promise<string> => askRedis(started.servers[0]!.port, 'PUBSUB CHANNELS *:wake:*');
    await until('nobody listens any more', async () => (await listening()) === '*0\r\n');
    await started[Symbol.asyncDispose]();
  });

  for (const library of LIBRARIES)
    describeConformance(
      subjectOf(`redis-sentinel over ${library}`, () => fleet, [library], TIMING),
      'one by one',
    );
});
