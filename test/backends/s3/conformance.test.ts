import type { S3 } from '@aws-sdk/client-s3';
import { afterAll, beforeAll } from 'vitest';
import { s3 } from '../../../src/backends/s3/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import { s3Client, startS3 } from '../../kit/s3.ts';
import type { Server } from '../../kit/server.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';

describeOn('s3', 'S3, by moto', () => {
  let server: Server;
  const proxies = new Map<Backend, FaultProxy>();
  const clients: S3[] = [];

  beforeAll(async () => {
    server = await startS3();
  }, 90_000);
  afterAll(async () => {
    for (const client of clients) client.destroy();
    for (const proxy of proxies.values()) await proxy[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const open = async (prefix?: string): Promise<Backend> => {
    const proxy = await startProxy(server.port);
    const client = s3Client(proxy.port);
    clients.push(client);
    const backend = s3(client, 'locks', { prefix });
    proxies.set(backend, proxy);
    return backend;
  };

  describeConformance({
    name: 's3',
    open: () => open(),
    apart: () => open('elsewhere'),
    // The emulator answers one request at a time, and needs the cores that other tests use.
    timing: { ttl: 1_000, tolerance: 800 },
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
