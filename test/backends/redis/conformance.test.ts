import { afterAll, beforeAll } from 'vitest';
import { startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { Fleet, LIBRARIES } from './fleet.ts';
import { subjectOf } from './subject.ts';

describeOn('redis', 'redis', () => {
  let server: Server;
  let fleet: Fleet;

  beforeAll(async () => {
    server = await startRedis();
    fleet = new Fleet(server.port);
  });
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  for (const library of LIBRARIES) describeConformance(subjectOf(`redis over ${library}`, () => fleet, [library]));
  describeConformance(subjectOf('redis in a mixed fleet', () => fleet, LIBRARIES));
});
