import { afterAll, beforeAll } from 'vitest';
import { dynamodb } from '../../../src/backends/dynamodb/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { dynamoClient, startDynamo } from '../../kit/dynamodb.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';

describeOn('dynamodb', 'DynamoDB, by dynalite', () => {
  let server: Server;
  const proxies = new Map<Backend, FaultProxy>();
  const ends: (() => void)[] = [];

  beforeAll(async () => {
    server = await startDynamo();
  });
  afterAll(async () => {
    for (const end of ends) end();
    for (const proxy of proxies.values()) await proxy[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const open = async (prefix?: string): Promise<Backend> => {
    const proxy = await startProxy(server.port);
    const { client, end } = dynamoClient(proxy.port);
    ends.push(end);
    const backend = dynamodb(client, 'locks', { prefix });
    proxies.set(backend, proxy);
    return backend;
  };

  describeConformance({
    name: 'dynamodb',
    open: () => open(),
    apart: () => open('elsewhere'),
    timing: { ttl: 700, tolerance: 350 },
    faults: {
      async die(client) {
        proxies.get(client)!.refuse();
        proxies.get(client)!.cut();
      },
      async stall(client) {
        proxies.get(client)!.stall('up');
        return async () => proxies.get(client)!.pass();
      },
    },
  });
});
