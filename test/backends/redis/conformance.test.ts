import { afterAll, beforeAll } from 'vitest';
import type { Subject } from '../../../src/testing/index.ts';
import { startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { Fleet, LIBRARIES, type Library } from './fleet.ts';

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

  /** Clients of these libraries in turn. */
  const subject = (name: string, libraries: readonly Library[]): Subject => {
    let opened = 0;
    const next = (): Library => libraries[opened++ % libraries.length]!;
    const prefix = name.replaceAll(' ', '-');
    return {
      name,
      open: () => fleet.backend(next(), { prefix }),
      apart: () => fleet.backend(next(), { prefix: `${prefix}:apart` }),
    };
  };

  for (const library of LIBRARIES) describeConformance(subject(`redis over ${library}`, [library]));
  describeConformance(subject('redis in a mixed fleet', LIBRARIES));
});
