import { afterAll, beforeAll } from 'vitest';
import type { Subject } from '../../../src/testing/index.ts';
import { startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { Fleet, LIBRARIES, type Library } from '../redis/fleet.ts';
import { plainOver } from './fleet.ts';

describeOn('redis-plain', 'plain redis', () => {
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
  const subjectOf = (name: string, libraries: readonly Library[]): Subject => {
    let opened = 0;
    const open = (prefix: string): Promise<ReturnType<typeof plainOver> extends Promise<infer B> ? B : never> =>
      plainOver(fleet, libraries[opened++ % libraries.length]!, { key: (key) => `${prefix}:${key}` });
    return { name, open: () => open(name), apart: () => open(`${name}:apart`) };
  };

  for (const library of LIBRARIES) describeConformance(subjectOf(`plain redis over ${library}`, [library]));
  describeConformance(subjectOf('plain redis in a mixed fleet', LIBRARIES));
});
