import { afterAll, beforeAll } from 'vitest';
import type { Subject } from '../../../products/testing/index.ts';
import { redlock } from '../../../src/backends/redlock/index.ts';
import { startRedisNodes } from '../../kit/redis.ts';
import type { Servers } from '../../kit/server.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { Fleet, LIBRARIES, type Library, owning } from '../redis/fleet.ts';

describeOn('redis', 'redlock', () => {
  let nodes: Servers;
  let fleets: Fleet[];

  beforeAll(async () => {
    nodes = await startRedisNodes(5);
    fleets = nodes.servers.map(({ port }) => new Fleet(port));
  });
  afterAll(async () => {
    for (const fleet of fleets) await fleet[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
  });

  const open = async (library: Library, prefix: string) => {
    const opened = await Promise.all(fleets.map((fleet) => fleet.open(library)));
    const clients = opened.map(({ client }) => client);
    return owning(redlock(clients, { prefix }), opened);
  };
  const subject = (library: Library): Subject => ({
    name: `redlock over ${library}`,
    open: () => open(library, library),
    apart: () => open(library, `${library}:apart`),
  });

  for (const library of LIBRARIES) describeConformance(subject(library), 'one by one');
});
