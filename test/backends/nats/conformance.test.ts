import { Kvm } from '@nats-io/kv';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll } from 'vitest';
import { nats } from '../../../src/backends/nats/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { startNats } from '../../kit/nats.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';

describeOn('nats', 'NATS', () => {
  let server: Server;
  const proxies = new Map<Backend, FaultProxy>();
  const connections: NatsConnection[] = [];

  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(async () => {
    for (const connection of connections) await connection.close();
    for (const proxy of proxies.values()) await proxy[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const open = async (prefix?: string): Promise<Backend> => {
    const proxy = await startProxy(server.port);
    const connection = await connect({ servers: `127.0.0.1:${proxy.port}`, reconnectTimeWait: 50 });
    connections.push(connection);
    const backend = nats(await new Kvm(connection).create('locks'), { prefix });
    proxies.set(backend, proxy);
    return backend;
  };

  describeConformance({
    name: 'nats',
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
